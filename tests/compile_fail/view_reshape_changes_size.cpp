// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a view can only be reshaped to a shape with the same number of elements.
#include <totograph/core/tensor_view.hpp>

using namespace totograph;

constexpr float values[6] = {};
constexpr TensorView<const float, Extents<2, 3>> view(values);

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr auto reshaped = view.reshape<3, 2>();
#else
constexpr auto reshaped = view.reshape<3, 3>();
#endif

static_assert(reshaped.shape[0] == 3);
