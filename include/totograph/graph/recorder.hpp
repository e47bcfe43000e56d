// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All that the code of a model is written with: the recorder, its tensors, and the operations on them.

#include <totograph/graph/elementwise.hpp>
#include <totograph/graph/linear.hpp>
#include <totograph/graph/movement.hpp>
#include <totograph/graph/reductions.hpp>
#include <totograph/graph/tensor.hpp>
