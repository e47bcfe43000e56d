// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/linear.hpp>

namespace totograph::toto1 {

/// Queries, keys and values from one weight whose rows are (query/key/value, head_dim, head), the head fastest, as the
/// reference packs them. The results are (head, head_dim): the reordering is of weights, done once.
template <nn::AttentionSize size>
struct PackedProjections {
    using Packed = nn::Linear<nn::LinearSize{.in = size.width, .out = 3 * size.width, .bias = size.bias}>;

    static constexpr Index parameters = Packed::parameters;
    static constexpr Index parameter_bytes = Packed::parameter_bytes;
    static constexpr Index flops_per_row = Packed::flops_per_row;

    Packed packed;

    [[nodiscard]] constexpr nn::QueryKeyValue record(Tensor x) const {
        static_assert(size.bias && size.query_width() == size.width && size.key_width() == size.width &&
                          size.value_width() == size.width,
                      "totograph: packed projections have biases, and as many heads of keys and values as of queries.");
        const Tensor rows = head_major(packed.weight);
        const Tensor bias = head_major(packed.bias);
        const auto part = [&](Index which) {
            const Tensor weight = slice(rows, 0, which * size.width, size.width);
            return linear(x, weight, slice(bias, 0, which * size.width, size.width));
        };
        const Tensor query = part(0);
        const Tensor key = part(1);
        return {query, key, part(2)};
    }

private:
    /// Rows (part, head_dim, head) as rows (part, head, head_dim).
    static constexpr Tensor head_major(Tensor rows) {
        if (rows.shape().rank == 1) {
            return reshape(permute(reshape(rows, {3, size.dim(), size.heads}), {0, 2, 1}), rows.shape());
        }
        return reshape(permute(reshape(rows, {3, size.dim(), size.heads, size.width}), {0, 2, 1, 3}), rows.shape());
    }
};

}  // namespace totograph::toto1
