// SPDX-License-Identifier: Apache-2.0
// Compiled, never run: the CUDA compiler must accept what a CUDA executor builds on.
#include <totograph/core/arena.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/version.hpp>

static_assert(totograph::Extents<2, 3>::size == 6);
