// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/half_split.hpp>
#include <totograph/nn/name.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/rotary.hpp>
#include <totograph/nn/transformer_layer.hpp>

namespace totograph::kronos {

/// Sizes of a block.
struct BlockSize {
    Index width = 0;
    Index heads = 1;
    Index hidden = 0;
};

/// The transformer layer of the tokenizer and of the predictor: pre-norm, rotary attention with biases, SwiGLU without.
template <BlockSize size>
struct Block {
    static constexpr nn::AttentionSize attention_size{.width = size.width, .heads = size.heads};
    static constexpr nn::SwiGluSize feed_forward_size{.width = size.width, .hidden = size.hidden, .bias = false};
    using Norm = nn::RmsNorm<nn::RmsNormSize{.width = size.width}>;
    using Projections = nn::HalfSplitProjections<attention_size>;
    using Attention = nn::HalfSplitAttention<attention_size>;
    using Gate = nn::SeparateGate<feed_forward_size>;
    using FeedForward = nn::SwiGlu<feed_forward_size, Gate>;
    using Layer = nn::TransformerLayer<Norm, Attention, FeedForward>;

    /// The layer whose weights are `<prefix>.norm1.weight` and so on.
    template <nn::NameType Prefix>
    static constexpr Layer layer(Recorder& r, Prefix prefix, LayerIndex number) {
        const auto read = [&]<class Linear>(Linear, auto name) { return Linear(r, prefix + name, number); };
        const Projections projections{{read(typename Projections::Queries{}, ".self_attn.q_proj"_name),
                                       read(typename Projections::Keys{}, ".self_attn.k_proj"_name),
                                       read(typename Projections::Values{}, ".self_attn.v_proj"_name)}};
        const Gate gate{read(typename Gate::Projection{}, ".ffn.w1"_name),
                        read(typename Gate::Projection{}, ".ffn.w3"_name)};
        return {
            .norm1 = Norm(r, prefix + ".norm1.weight"_name, KronosConfig::norm_epsilon, number),
            .attention = Attention(projections, read(typename Attention::Output{}, ".self_attn.out_proj"_name)),
            .norm2 = Norm(r, prefix + ".norm2.weight"_name, KronosConfig::norm_epsilon, number),
            .feed_forward = {gate, read(typename FeedForward::Down{}, ".ffn.w2"_name)},
        };
    }
};

/// Queries and keys of a block, rotated for their positions.
template <class Attention>
class Rotation {
public:
    /// `positions` is f32 and broadcasts to `[batch, 1, 1, positions, 1, 1]`.
    constexpr explicit Rotation(Tensor positions) : tables_(nn::half_split_tables<Attention::rotated_dim>(positions)) {}
    /// Positions from 0 on.
    constexpr Rotation(Recorder& r, Index count) : Rotation(reshape(r.iota(count), {count, 1, 1})) {}

    [[nodiscard]] constexpr nn::QueryKeyValue apply(const nn::QueryKeyValue& x) const {
        const Tensor query = nn::rotate(x.query, tables_.query_cosine, tables_.query_sine);
        return {query, nn::rotate(x.key, tables_.key_cosine, tables_.key_sine), x.value};
    }

private:
    nn::RotaryTables tables_;
};

}  // namespace totograph::kronos
