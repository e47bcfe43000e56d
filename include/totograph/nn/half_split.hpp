// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/padded_heads.hpp>
#include <totograph/nn/partial_rotary.hpp>
#include <totograph/nn/rotary.hpp>

// Half-split rotary embeddings, PyTorch's `rotate_half`: dimension j of a head turns with dimension j + head_dim / 2.
//
// The order of a head's dimensions does not change q k^T, as long as queries and keys have the same one. So the rows of
// their projections are put side by side, once, when weights are prepared: then neighbours turn, as in `rotate`.

namespace totograph::nn {

/// Rows of a projection with `heads` heads, `[heads * head_dim, in]`, or its bias, `[heads * head_dim]`: of each head
/// the first half and the second half in turns. Made of weights.
constexpr Tensor interleave_halves(Tensor rows, Index heads) {
    if (!detail::check_heads("interleave_halves", rows, 0, heads)) {
        return rows;
    }
    const Index pairs = rows.extent(0) / heads / 2;
    if (rows.extent(0) != heads * pairs * 2) {
        rows.recorder().fail(ModelErrorKind::odd_rotary_width)
            << "interleave_halves: " << rows.extent(0) << " rows for " << heads << " heads";
        return rows;
    }
    const Index in = rows.shape().rank == 1 ? 1 : rows.extent(1);
    return reshape(permute(reshape(rows, {heads, 2, pairs, in}), {0, 2, 1, 3}), rows.shape());
}

/// `SeparateProjections` for a half-split rotary embedding: its queries and keys are rotated by `rotate` with the
/// tables below. Heads come padded (`padded_heads.hpp`).
template <AttentionSize size>
struct HalfSplitProjections : SeparateProjections<size> {
    [[nodiscard]] constexpr QueryKeyValue record(Tensor x) const {
        constexpr Index kv_heads = size.kv_heads > 0 ? size.kv_heads : size.heads;
        SeparateProjections<size> stored = *this;
        apply(stored.query, [](Tensor rows) { return pad_head_rows(interleave_halves(rows, size.heads), size.heads); });
        apply(stored.key, [](Tensor rows) { return pad_head_rows(interleave_halves(rows, kv_heads), kv_heads); });
        apply(stored.value, [](Tensor rows) { return pad_head_rows(rows, kv_heads); });
        return stored.record(x);
    }

private:
    template <class Projection, class Change>
    static constexpr void apply(Projection& projection, const Change& change) {
        projection.weight = change(projection.weight);
        if constexpr (size.bias) {
            projection.bias = change(projection.bias);
        }
    }
};

/// Multi-head attention with a half-split rotary embedding and padded heads: what it computes is that of the heads as
/// they are in the checkpoint, whose scale it keeps.
template <AttentionSize size>
struct HalfSplitAttention : Attention<pad_heads(size), HalfSplitProjections<size>> {
    static_assert(size.value_dim == 0, "totograph: heads are padded where values are as wide as keys.");
    using Padded = Attention<pad_heads(size), HalfSplitProjections<size>>;
    using Projections = HalfSplitProjections<size>;
    /// As in the checkpoint.
    using Output = typename Attention<size>::Output;

    static constexpr Index rotated_dim = size.dim();  ///< Dimensions of a head that turn: those of the checkpoint.
    static constexpr Index parameters = parameters_of<Projections, Output>;
    static constexpr Index parameter_bytes = parameter_size * parameters;

    /// @param factor  of q k^T; 0 for 1 / sqrt(head_dim) of the checkpoint's heads
    constexpr HalfSplitAttention(const Projections& stored, const Output& back, double factor = 0)
        : Padded{stored, padded(back), factor > 0 ? factor : usual_attention_scale(size.dim())} {}

private:
    static constexpr typename Padded::Output padded(const Output& back) {
        typename Padded::Output output;
        output.weight = pad_head_columns(back.weight, size.heads);
        output.bias = back.bias;
        return output;
    }
};

/// Tables for heads whose halves are interleaved: pair j turns with frequency theta^(-2j / head_dim); dimensions from
/// `head_dim` on, of a padded head, pass. `positions` is f32 and broadcasts to `[batch, 1, 1, positions, 1, 1]`.
template <Index head_dim, Index theta = 10000>
constexpr RotaryTables half_split_tables(Tensor positions) {
    constexpr PartialRotarySize size{
        .head_dim = padded_head_dim(head_dim), .rotated = head_dim, .theta = theta, .use_xpos = false};
    return partial_rotary_tables<size>(positions, positions);
}

/// Queries and keys of a `HalfSplitAttention`, rotated for their positions.
template <class Attention, Index theta = 10000>
class HalfSplitRotation {
public:
    /// `positions` is f32 and broadcasts to `[batch, 1, 1, positions, 1, 1]`.
    constexpr explicit HalfSplitRotation(Tensor positions)
        : tables_(half_split_tables<Attention::rotated_dim, theta>(positions)) {}
    /// Positions from 0 on.
    constexpr HalfSplitRotation(Recorder& r, Index count) : HalfSplitRotation(reshape(r.iota(count), {count, 1, 1})) {}

    [[nodiscard]] constexpr QueryKeyValue apply(const QueryKeyValue& x) const {
        const Tensor query = rotate(x.query, tables_.query_cosine, tables_.query_sine);
        return {query, rotate(x.key, tables_.key_cosine, tables_.key_sine), x.value};
    }

    /// Cosines and sines, each frequency twice, side by side.
    [[nodiscard]] constexpr const RotaryTables& tables() const { return tables_; }

private:
    RotaryTables tables_;
};

}  // namespace totograph::nn
