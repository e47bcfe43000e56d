// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a tensor view needs one stride for each extent.
#include <totograph/core/tensor_view.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
using View = TensorView<float, Extents<2, 3>, StridesOf<6, 1>>;
#else
using View = TensorView<float, Extents<2, 3>, StridesOf<6>>;
#endif

static_assert(View::strides[0] == 6);
