// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

#include "support/outputs.hpp"

// Ways to say where elements are, and to move them, that the tests of every executor share.

namespace totograph::test {

/// Views of two tensors `[4, 3, 10]`, and what is made of views.
constexpr void record_views(Outputs& out, Tensor x, Tensor y) {
    out(slice(x, 2, 1, 3));
    out(slice(x, 2, 1, 3, 4));
    out(slice(slice(x, 2, 1, 3, 3), 0, 1, 2, 2));
    out(permute(x, {2, 0, 1}));
    out(permute(x, {1, 2, 0}) - permute(y, {1, 2, 0}));
    out(reshape(permute(x, {2, 0, 1}), {20, 6}));
    out(reshape(slice(x, 2, 0, 5), {12, 5}));
    out(reshape(slice(x, 1, 0, 2), {80}));
    out(expand(slice(x, 1, 1, 1), {2, 4, 3, 10}));
    out(reshape(expand(reshape(slice(x, 1, 1, 1), {4, 1, 10}), {4, 3, 10}), {120}));
    out(concatenate(x, slice(y, 0, 1, 2), 0));
    out(concatenate(x, slice(y, 1, 1, 1), 1));
    out(concatenate(permute(x, {0, 2, 1}), permute(slice(y, 1, 0, 2), {0, 2, 1}), 2));
}

/// One index of an axis of them, at a position that is data: one for all, or one of each of the four.
constexpr void record_takes(Outputs& out, Tensor x, Tensor y, Tensor position, Tensor positions) {
    out(take(x, 1, minimum(position, 2.0)));
    out(take(x, 2, position));
    out(take(x, 2, position) + take(y, 2, position));
    out(take(x, 2, positions));
    out(take(slice(x, 2, 1, 4, 2), 2, position));
    out(take(permute(x, {2, 1, 0}), 2, position));
    out(slice(take(x, 2, position), 0, 1, 2));
    out(take(take(x, 0, position), 2, position));
    out(take(x + y, 0, position));
}

}  // namespace totograph::test
