// SPDX-License-Identifier: Apache-2.0
// Compiled, never run: the CUDA compiler must accept the host headers.
#include <totograph/core/arena.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/version.hpp>
#if __has_include(<totograph/totograph.hpp>)
#include <totograph/totograph.hpp>
#endif

static_assert(totograph::Extents<2, 3>::size == 6);
