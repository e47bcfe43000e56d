// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CUDA executor and its forecaster. Include it from files that nvcc compiles, in place of `totograph.hpp`, whose
/// CPU executors nvcc does not compile well; both can be in one program, in different files.

#include <totograph/toto/cuda_forecaster.hpp>
