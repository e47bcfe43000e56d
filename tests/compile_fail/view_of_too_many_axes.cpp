// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a tensor has too many axes
#include <totograph/core/tensor_view.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
using Shaped = Extents<1, 2, 3, 4, 5, 6>;
#else
using Shaped = Extents<1, 2, 3, 4, 5, 6, 7>;
#endif

static_assert(Shaped::size > 0);
