// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

namespace totograph::toto1 {

/// Rows of a packed projection, which are (part, head_dim, head), the head fastest, as rows (part, head, head_dim).
constexpr Tensor head_major(Tensor packed, Index heads) {
    const Index head_dim = packed.extent(0) / 3 / heads;
    if (packed.shape().rank == 1) {
        return reshape(permute(reshape(packed, {3, head_dim, heads}), {0, 2, 1}), packed.shape());
    }
    return reshape(permute(reshape(packed, {3, head_dim, heads, packed.extent(1)}), {0, 2, 1, 3}), packed.shape());
}

/// Projects x to queries, keys and values with one packed weight `[3 * width, width]` whose rows are
/// (query/key/value, head_dim, head), the head fastest, as the reference packs them. The results are
/// (head, head_dim): the reordering is of weights, done once. `heads` divides the width.
constexpr nn::QueryKeyValue project_query_key_value(Tensor x, Tensor weight, Tensor bias, Index heads) {
    const Tensor rows = head_major(weight, heads);
    const Tensor row_bias = head_major(bias, heads);
    const Index width = weight.extent(0) / 3;
    const auto part = [&](Index which) {
        return linear(x, slice(rows, 0, which * width, width), slice(row_bias, 0, which * width, width));
    };
    return {part(0), part(1), part(2)};
}

}  // namespace totograph::toto1
