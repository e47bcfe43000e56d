// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/linear.hpp>
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
/// tables below.
template <AttentionSize size>
struct HalfSplitProjections : SeparateProjections<size> {
    [[nodiscard]] constexpr QueryKeyValue record(Tensor x) const {
        SeparateProjections<size> paired = *this;
        interleave(paired.query, size.heads);
        interleave(paired.key, size.kv_heads > 0 ? size.kv_heads : size.heads);
        return paired.record(x);
    }

private:
    template <class Projection>
    static constexpr void interleave(Projection& projection, Index heads) {
        projection.weight = interleave_halves(projection.weight, heads);
        if constexpr (size.bias) {
            projection.bias = interleave_halves(projection.bias, heads);
        }
    }
};

/// Tables for heads whose halves are interleaved: pair j turns with frequency theta^(-2j / head_dim). `positions` is
/// f32 and broadcasts to `[batch, 1, 1, positions, 1, 1]`.
template <Index head_dim, Index theta = 10000>
constexpr RotaryTables half_split_tables(Tensor positions) {
    constexpr PartialRotarySize size{.head_dim = head_dim, .rotated = head_dim, .theta = theta, .use_xpos = false};
    return partial_rotary_tables<size>(positions, positions);
}

/// Queries and keys of an attention with `HalfSplitProjections`, rotated for their positions.
template <class Attention, Index theta = 10000>
class HalfSplitRotation {
public:
    /// `positions` is f32 and broadcasts to `[batch, 1, 1, positions, 1, 1]`.
    constexpr explicit HalfSplitRotation(Tensor positions)
        : tables_(half_split_tables<Attention::head_dim, theta>(positions)) {}
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
