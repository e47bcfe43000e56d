// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/nn/gated_layer.hpp>
#include <totograph/nn/half_split.hpp>
#include <totograph/nn/name.hpp>
#include <totograph/nn/rms_norm.hpp>

namespace totograph::nanovlm {

/// From tokens to logits of the next ones.
template <LanguageConfig config>
class Language {
    static constexpr Index width = config.lm_hidden_dim;

public:
    using Layers = nn::GatedLayer<nn::GatedLayerSize{
        .width = width, .heads = config.lm_n_heads, .kv_heads = config.lm_n_kv_heads, .hidden = config.lm_inter_dim}>;
    using Layer = typename Layers::Layer;
    using Rotation = nn::HalfSplitRotation<typename Layers::Attention, config.lm_re_base>;

    /// Keys are kept without `lm_attn_scaling`, which the reference multiplies queries and keys by: here scores are.
    static constexpr Layer layer(Recorder& r, LayerIndex number) {
        constexpr double scale =
            config.lm_attn_scaling * config.lm_attn_scaling * usual_attention_scale(Layers::Attention::rotated_dim);
        return Layers::template read<LayerNames>(r, config.lm_rms_eps, number, scale);
    }

    /// Rows of tokens, `[..., lm_hidden_dim]`.
    static constexpr Tensor embed(Tensor tokens) {
        Recorder& r = tokens.recorder();
        return embedding(config.lm_tie_weights ? head(r) : r.weight("decoder.token_embedding.weight", table), tokens);
    }
    /// What the head reads, of what the layers give.
    static constexpr Tensor norm(Tensor x) {
        return nn::RmsNorm<nn::RmsNormSize{.width = width}>(x.recorder(), "decoder.norm.weight"_name, config.lm_rms_eps)
            .record(x);
    }
    static constexpr Tensor logits(Tensor normed) {
        // Kernels compute groups of eight columns: a vocabulary that is none gets columns of zeros, which are cut off.
        constexpr Index columns = divide_rounding_up(config.lm_vocab_size, Index{8}) * 8;
        Recorder& r = normed.recorder();
        if constexpr (columns == config.lm_vocab_size) {
            return linear(normed, head(r));
        } else {
            const Tensor zeros = expand(r.constant(0), Shape{columns - config.lm_vocab_size, width});
            return slice(linear(normed, concatenate(head(r), zeros, 0)), -1, 0, config.lm_vocab_size);
        }
    }

    /// Positions as the rotary embedding sees them. Beyond `lm_max_position_embeddings` the reference divides all
    /// frequencies by how many times that many positions the call has, be it a prompt or one more token.
    /// @param positions  f32, of any shape
    /// @param end        how many positions there are, i32 `[1]`
    static constexpr Tensor rescale(Tensor positions, Tensor end) {
        const Tensor times = cast(end, DType::f32) / static_cast<double>(config.lm_max_position_embeddings);
        return positions / maximum(times, 1.0);
    }

private:
    static constexpr Shape table{config.lm_vocab_size, width};

    struct LayerNames {
        static constexpr auto norm1 = "decoder.blocks.{}.norm1.weight"_name;
        static constexpr auto query = "decoder.blocks.{}.attn.q_proj"_name;
        static constexpr auto key = "decoder.blocks.{}.attn.k_proj"_name;
        static constexpr auto value = "decoder.blocks.{}.attn.v_proj"_name;
        static constexpr auto output = "decoder.blocks.{}.attn.out_proj"_name;
        static constexpr auto norm2 = "decoder.blocks.{}.norm2.weight"_name;
        static constexpr auto gate = "decoder.blocks.{}.mlp.gate_proj"_name;
        static constexpr auto up = "decoder.blocks.{}.mlp.up_proj"_name;
        static constexpr auto down = "decoder.blocks.{}.mlp.down_proj"_name;
    };

    static constexpr Tensor head(Recorder& r) { return r.weight("decoder.head.weight", table); }
};

}  // namespace totograph::nanovlm
