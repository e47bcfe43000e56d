// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/block.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/name.hpp>

namespace totograph::kronos {

/// The two ids of each candle, i32 `[batch, 1 or samples, 1, candles]`.
struct Ids {
    Tensor s1;
    Tensor s2;
};

/// From candles to ids and back, by the signs of a code (binary spherical quantization).
template <class Parts>
class Tokenizer {
    static constexpr TokenizerConfig config = Parts::config.tokenizer;

public:
    static constexpr int encoder_blocks = config.n_enc_layers - 1;
    static constexpr int decoder_blocks = config.n_dec_layers - 1;
    using Layers = Block<BlockSize{.width = config.d_model, .heads = config.n_heads, .hidden = config.ff_dim}>;
    using Layer = typename Layers::Layer;
    using Rotation = kronos::Rotation<typename Layers::Attention>;

    /// Ids of normalized candles, `[batch, 1, 1, candles, 6]`, of which the first `length` of a series are real. What
    /// the reference normalizes before it takes signs keeps them.
    static constexpr Ids encode(Tensor candles, Tensor length) {
        Recorder& r = candles.recorder();
        const Rotation rotation(r, candles.extent(3));
        Tensor x = Embed(r, "embed"_name).record(candles);
        Parts::tap("tap.encoder_embedding", x);
        x = repeat(encoder_blocks, x, [&](Tensor input, LayerIndex number) {
            const Layer layer = Layers::layer(r, "encoder.{}"_name, number);
            const Tensor result = layer.record(input, [&](const nn::QueryKeyValue& projected) {
                const auto rotated = rotation.apply(projected);
                return layer.attention.causal(rotated.query, rotated.key, rotated.value, length);
            });
            Parts::tap("tap.encoder", result, number);
            return result;
        });
        const Tensor code = ToCode(r, "quant_embed"_name).record(x);
        Parts::tap("tap.pre_quant", code);
        Shape candle = code.shape();
        --candle.rank;
        const auto ids_of = [&](Index first, Index bits) {
            return reshape(pack_bits(slice(code, -1, first, bits)), candle);
        };
        const Tensor s1 = ids_of(0, config.s1_bits);
        return {s1, ids_of(config.s1_bits, config.s2_bits)};
    }

    /// What the decoder's blocks read: a linear layer of the code, whose two halves are rows of tables. As in the
    /// reference, each id gives half of the code, also where one of them has more bits than the other.
    static constexpr Tensor embed_ids(const Ids& ids) {
        Recorder& r = ids.s1.recorder();
        const FromCode layer(r, "post_quant_embed"_name);
        constexpr Index half = config.bits() / 2;
        const auto table = [&](Index bits, Index first) {
            const Tensor set = unpack_bits(reshape(r.iota(Index{1} << bits, DType::i32), {Index{1} << bits, 1}), half);
            const Tensor codes = (set * 2.0 - 1.0) * usual_attention_scale(config.bits());  // 1 / sqrt(bits)
            return compose_weights(codes, permute(slice(layer.weight, 1, first, half), {1, 0}));
        };
        const Tensor of_s1 = embedding(table(config.s1_bits, 0) + layer.bias, ids.s1);
        return of_s1 + embedding(table(config.s2_bits, half), ids.s2);
    }

    static constexpr Layer decoder_layer(Recorder& r, LayerIndex number) {
        return Layers::layer(r, "decoder.{}"_name, number);
    }

    /// Normalized candles of what the decoder's blocks give.
    static constexpr Tensor to_candles(Tensor x) { return Head(x.recorder(), "head"_name).record(x); }

private:
    using Embed = nn::Linear<nn::LinearSize{.in = config.d_in, .out = config.d_model}>;
    using ToCode = nn::Linear<nn::LinearSize{.in = config.d_model, .out = config.bits()}>;
    using FromCode = nn::Linear<nn::LinearSize{.in = config.bits(), .out = config.d_model}>;
    using Head = nn::Linear<nn::LinearSize{.in = config.d_model, .out = config.d_in}>;
};

}  // namespace totograph::kronos
