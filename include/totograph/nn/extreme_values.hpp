// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

// What a model does with values that are no numbers of use: NaN, infinities, and what is beyond half the range of f32.
namespace totograph::nn {

namespace detail {

/// Of f32; the reference takes this and what is larger for no numbers of use.
inline constexpr double half_of_largest = 0x1.fffffep126;

}  // namespace detail

/// x with 0 in place of -0, which marks what was replaced.
constexpr Tensor without_marks(Tensor x) {
    return x + 0.0;
}

/// 0 in place of extreme values.
constexpr Tensor replace_extreme_values(Tensor x) {
    return where(less(abs(x), detail::half_of_largest), x, x.recorder().constant(0));
}

/// The same, with a mark that costs nothing to carry: what was replaced is -0, and no other value is. To all that is
/// computed from it, -0 is 0. For the state `forecast` of a family whose results are told so (`NotFinite::by_mark`).
constexpr Tensor mark_extreme_values(Tensor x) {
    return where(less(abs(x), detail::half_of_largest), without_marks(x), x.recorder().constant(-0.0));
}

}  // namespace totograph::nn
