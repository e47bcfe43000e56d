// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention_block.hpp>

// Heads of a width that kernels do not like, 52 for one, are computed wider: dimensions are added whose queries, keys
// and values are 0. They add 0 to each product of a query and a key, and nobody reads what is attended in them. The
// rows and columns of 0 are put into the projections once, when weights are prepared.

namespace totograph::nn {

/// The width in which heads of `head_dim` dimensions are computed: the next multiple of 32 (of 64 beyond 128), where it
/// is wider by a quarter at most. Its rows begin at multiples of 16 bytes, fill tiles of tensor cores, and divide among
/// the lanes that read one.
constexpr Index padded_head_dim(Index head_dim) {
    const Index step = head_dim > 128 ? 64 : 32;
    const Index padded = divide_rounding_up(head_dim, step) * step;
    return 4 * (padded - head_dim) <= head_dim ? padded : head_dim;
}

/// The sizes of an attention whose heads, of queries, keys and values, are padded. Values are as wide as keys.
constexpr AttentionSize pad_heads(AttentionSize size) {
    size.head_dim = padded_head_dim(size.dim());
    return size;
}

namespace detail {

/// Notes a mistake unless heads divide an axis of a projection.
constexpr bool check_heads(std::string_view what, Tensor projection, int axis, Index heads) {
    const Index extent = projection.extent(axis);
    if (heads > 0 && extent % heads == 0) {
        return true;
    }
    projection.recorder().fail(ModelErrorKind::heads_do_not_divide)
        << what << ": axis " << Index{axis} << " of shape " << projection.shape() << " does not divide into " << heads
        << " heads";
    return false;
}

/// x, `[first, heads, head_dim, last]` in a flat shape, with zeros after the dimensions of each head.
constexpr Tensor append_zeros(Tensor x, const Shape& heads, const Shape& padded_shape) {
    const Index padding = padded_head_dim(heads[2]) - heads[2];
    if (padding == 0) {
        return x;
    }
    const Tensor zeros = expand(x.recorder().constant(0.0), Shape{heads[0], heads[1], padding, heads[3]});
    return reshape(concatenate(reshape(x, heads), zeros, 2), padded_shape);
}

}  // namespace detail

/// Rows of a projection to `heads` heads, `[heads * head_dim, in]`, or its bias, `[heads * head_dim]`, with rows of 0
/// after those of each head: `[heads * padded_head_dim(head_dim), in]`. Made of weights.
constexpr Tensor pad_head_rows(Tensor rows, Index heads) {
    if (!detail::check_heads("pad_head_rows", rows, 0, heads)) {
        return rows;
    }
    const Index head_dim = rows.extent(0) / heads;
    const Index in = rows.shape().rank == 1 ? 1 : rows.extent(1);
    return detail::append_zeros(rows, {1, heads, head_dim, in},
                                with_axis(rows.shape(), 0, heads * padded_head_dim(head_dim)));
}

/// Columns of a projection from `heads` heads, `[out, heads * head_dim]`, with columns of 0 after those of each head.
/// Made of weights.
constexpr Tensor pad_head_columns(Tensor columns, Index heads) {
    if (!detail::check_heads("pad_head_columns", columns, 1, heads)) {
        return columns;
    }
    const Index head_dim = columns.extent(1) / heads;
    return detail::append_zeros(columns, {columns.extent(0), heads, head_dim, 1},
                                {columns.extent(0), heads * padded_head_dim(head_dim)});
}

}  // namespace totograph::nn
