// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/half_split.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/transformer_layer.hpp>

namespace totograph::nn {

/// Sizes of a gated layer.
struct GatedLayerSize {
    Index width = 0;
    Index heads = 1;
    Index kv_heads = 0;  ///< Of keys and values (grouped queries); 0 for as many as queries.
    Index hidden = 0;    ///< Of the feed-forward.
    bool attention_bias = false;
};

/// The transformer layer of Llama (https://arxiv.org/abs/2302.13971) and those like it: root mean square norms before
/// an attention with a half-split rotary embedding, and before a SwiGLU without biases.
template <GatedLayerSize size>
struct GatedLayer {
    static constexpr AttentionSize attention_size{
        .width = size.width, .heads = size.heads, .kv_heads = size.kv_heads, .bias = size.attention_bias};
    static constexpr SwiGluSize feed_forward_size{.width = size.width, .hidden = size.hidden, .bias = false};
    using Norm = RmsNorm<RmsNormSize{.width = size.width}>;
    using Projections = HalfSplitProjections<attention_size>;
    using Attention = HalfSplitAttention<attention_size>;
    using Gate = SeparateGate<feed_forward_size>;
    using FeedForward = SwiGlu<feed_forward_size, Gate>;
    using Layer = TransformerLayer<Norm, Attention, FeedForward>;

    /// A layer of the checkpoint.
    /// @tparam Names   has static members of type `Name`: `norm1` and `norm2`, which are whole names, and the prefixes
    ///                 `query`, `key`, `value`, `output`, `gate`, `up` and `down`
    /// @param epsilon  of the norms
    /// @param scale    of q k^T; 0 for 1 / sqrt(head_dim)
    template <class Names>
    static constexpr Layer read(Recorder& r, double epsilon, LayerIndex number, double scale = 0) {
        const Projections projections{{typename Projections::Queries(r, Names::query, number),
                                       typename Projections::Keys(r, Names::key, number),
                                       typename Projections::Values(r, Names::value, number)}};
        const Gate gate{typename Gate::Projection(r, Names::gate, number),
                        typename Gate::Projection(r, Names::up, number)};
        return {
            .norm1 = Norm(r, Names::norm1, epsilon, number),
            .attention = Attention(projections, typename Attention::Output(r, Names::output, number), scale),
            .norm2 = Norm(r, Names::norm2, epsilon, number),
            .feed_forward = {gate, typename FeedForward::Down(r, Names::down, number)},
        };
    }
};

}  // namespace totograph::nn
