// SPDX-License-Identifier: Apache-2.0
// expect: totograph: every extent of a tensor must be positive.
#include <totograph/core/tensor_view.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
using Shaped = Extents<2, 1>;
#else
using Shaped = Extents<2, 0>;
#endif

static_assert(Shaped::rank == 2);
