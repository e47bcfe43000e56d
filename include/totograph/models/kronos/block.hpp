// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/nn/gated_layer.hpp>
#include <totograph/nn/half_split.hpp>
#include <totograph/nn/name.hpp>

namespace totograph::kronos {

/// Sizes of a block.
struct BlockSize {
    Index width = 0;
    Index heads = 1;
    Index hidden = 0;
};

/// The transformer layer of the tokenizer and of the predictor: pre-norm, rotary attention with biases, SwiGLU without.
template <BlockSize size>
struct Block : nn::GatedLayer<nn::GatedLayerSize{
                   .width = size.width, .heads = size.heads, .hidden = size.hidden, .attention_bias = true}> {
    /// The layer whose weights are `<prefix>.norm1.weight` and so on.
    template <nn::NameType Prefix>
    static constexpr auto layer(Recorder& r, Prefix /*prefix*/, LayerIndex number) {
        return Block::template read<Names<Prefix>>(r, KronosConfig::norm_epsilon, number);
    }

private:
    template <nn::NameType Prefix>
    struct Names {
        static constexpr auto norm1 = Prefix{} + ".norm1.weight"_name;
        static constexpr auto query = Prefix{} + ".self_attn.q_proj"_name;
        static constexpr auto key = Prefix{} + ".self_attn.k_proj"_name;
        static constexpr auto value = Prefix{} + ".self_attn.v_proj"_name;
        static constexpr auto output = Prefix{} + ".self_attn.out_proj"_name;
        static constexpr auto norm2 = Prefix{} + ".norm2.weight"_name;
        static constexpr auto gate = Prefix{} + ".ffn.w1"_name;
        static constexpr auto up = Prefix{} + ".ffn.w3"_name;
        static constexpr auto down = Prefix{} + ".ffn.w2"_name;
    };
};

/// Queries and keys of a block, rotated for their positions.
template <class Attention>
using Rotation = nn::HalfSplitRotation<Attention>;

}  // namespace totograph::kronos
