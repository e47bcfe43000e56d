// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All that the code of a model is written with: the recorder, its tensors, and the operations on them.

#include <totograph/graph/record/bits.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/record/linear.hpp>
#include <totograph/graph/record/movement.hpp>
#include <totograph/graph/record/reductions.hpp>
#include <totograph/graph/record/repeat.hpp>
#include <totograph/graph/record/running_moments.hpp>
#include <totograph/graph/record/sample_categorical.hpp>
#include <totograph/graph/record/tensor.hpp>
