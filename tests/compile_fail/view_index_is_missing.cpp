// SPDX-License-Identifier: Apache-2.0
// expect: totograph: index a tensor view with one number for each axis.
#include <totograph/core/tensor_view.hpp>

using namespace totograph;

constexpr float values[6] = {};
constexpr TensorView<const float, Extents<2, 3>> view(values);

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr float element = view(1, 2);
#else
constexpr float element = view(1);
#endif

static_assert(element == 0.0F);
