// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CUDA executor and its forecaster. Include it from files that nvcc compiles, in place of `totograph.hpp`, whose
/// CPU executors nvcc does not compile well; both can be in one program, in different files.

#include <totograph/forecast/cuda/forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/toto1/family.hpp>
