// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/block.hpp>
#include <totograph/models/kronos/calendar.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/models/kronos/tokenizer.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/name.hpp>
#include <totograph/nn/padded_heads.hpp>
#include <totograph/nn/rms_norm.hpp>

namespace totograph::kronos {

/// From ids and times to logits of the next ids. Where a layer reads an id or a stamp, its product with each row of the
/// embedding is a table, which is computed once, when weights are prepared.
template <class Parts>
class Predictor {
    static constexpr PredictorConfig config = Parts::config.predictor;
    static constexpr Index width = config.d_model;

public:
    using Layers = Block<BlockSize{.width = width, .heads = config.n_heads, .hidden = config.ff_dim}>;
    using Layer = typename Layers::Layer;
    using Rotation = kronos::Rotation<typename Layers::Attention>;

    static constexpr Layer layer(Recorder& r, LayerIndex number) {
        return Layers::layer(r, "transformer.{}"_name, number);
    }

    /// Rows for ids: the fusion of both embeddings, `[..., d_model]`.
    static constexpr Tensor embed_ids(const Ids& ids) {
        Recorder& r = ids.s1.recorder();
        const nn::Linear<nn::LinearSize{.in = 2 * width, .out = width}> fusion(r, "embedding.fusion_proj"_name);
        const auto table = [&](Tensor rows, Index first) {
            const Tensor half = permute(slice(fusion.weight, 1, first, width), {1, 0});
            return compose_weights(rows * (1 / usual_attention_scale(width)), half);  // times sqrt(width)
        };
        const Tensor of_s1 = embedding(table(s1_rows(r), 0) + fusion.bias, ids.s1);
        return of_s1 + embedding(table(r.weight("embedding.emb_s2.weight", {config.s2_ids(), width}), width), ids.s2);
    }

    /// Rows for times: stamps are i32 `[..., 5]`, the result is `[..., d_model]`.
    static constexpr Tensor embed_times(Tensor stamps) {
        Recorder& r = stamps.recorder();
        Shape candle = stamps.shape();
        --candle.rank;
        const auto rows = [&](std::string_view name, Stamp stamp) {
            const auto place = static_cast<Index>(stamp);
            const Tensor table = r.weight(name, {stamp_values[static_cast<std::size_t>(place)], width});
            return embedding(table, reshape(slice(stamps, -1, place, 1), candle));
        };
        Tensor sum = rows("time_emb.hour_embed.weight", Stamp::hour);
        sum = sum + rows("time_emb.weekday_embed.weight", Stamp::weekday);
        sum = sum + rows("time_emb.day_embed.weight", Stamp::day);
        sum = sum + rows("time_emb.month_embed.weight", Stamp::month);
        return sum + rows("time_emb.minute_embed.weight", Stamp::minute);
    }

    /// What the heads read, of what the layers give.
    static constexpr Tensor norm(Tensor x) {
        return Norm(x.recorder(), "norm.weight"_name, KronosConfig::norm_epsilon).record(x);
    }
    /// Logits of the first id.
    static constexpr Tensor s1_logits(Tensor context) {
        return nn::Linear<nn::LinearSize{.in = width, .out = config.s1_ids()}>(context.recorder(), "head.proj_s1"_name)
            .record(context);
    }

    /// Keys and values by which the dependency layer sees a candle, of padded heads. They have no position: it sees
    /// them unrotated.
    static constexpr nn::QueryKeyValue dependency_keys(Tensor context) {
        Recorder& r = context.recorder();
        const Tensor key = dependency_rows(Square(r, "dep_layer.cross_attn.k_proj"_name)).record(context);
        return {key, key, dependency_rows(Square(r, "dep_layer.cross_attn.v_proj"_name)).record(context)};
    }
    /// The query of an id that was drawn, of its embedding as it is.
    static constexpr Tensor dependency_query(Tensor s1) {
        Recorder& r = s1.recorder();
        const auto query = dependency_rows(Square(r, "dep_layer.cross_attn.q_proj"_name));
        return embedding(compose_weights(s1_rows(r), permute(query.weight, {1, 0})) + query.bias, s1);
    }
    static constexpr nn::AttentionOptions dependency_options() {
        return {.heads = dependency_heads,
                .scale = usual_attention_scale(width / dependency_heads),
                .is_causal = false,
                .queries = QueryPlaces::last};
    }
    /// Logits of the second id: `context` is that of the newest candle, `attended` what the query above has found.
    static constexpr Tensor s2_logits(Tensor context, Tensor attended) {
        Recorder& r = context.recorder();
        const Square stored(r, "dep_layer.cross_attn.out_proj"_name);
        nn::Linear<nn::LinearSize{.in = padded_width, .out = width}> output;
        output.weight = nn::pad_head_columns(stored.weight, dependency_heads);
        output.bias = stored.bias;
        const Tensor out = output.record(attended);
        Parts::tap("tap.dependency", out);
        const Norm norm(r, "dep_layer.norm.weight"_name, KronosConfig::norm_epsilon);
        return nn::Linear<nn::LinearSize{.in = width, .out = config.s2_ids()}>(r, "head.proj_s2"_name)
            .record(norm.record(context + out));
    }

private:
    using Norm = nn::RmsNorm<nn::RmsNormSize{.width = width}>;
    using Square = nn::Linear<nn::LinearSize{.in = width, .out = width}>;
    static constexpr Index dependency_heads = PredictorConfig::dependency_heads;
    static constexpr Index padded_width = dependency_heads * nn::padded_head_dim(width / dependency_heads);

    /// A projection to the dependency layer's heads, padded.
    static constexpr auto dependency_rows(const Square& stored) {
        nn::Linear<nn::LinearSize{.in = width, .out = padded_width}> padded;
        padded.weight = nn::pad_head_rows(stored.weight, dependency_heads);
        padded.bias = nn::pad_head_rows(stored.bias, dependency_heads);
        return padded;
    }

    static constexpr Tensor s1_rows(Recorder& r) {
        return r.weight("embedding.emb_s1.weight", {config.s1_ids(), width});
    }
};

}  // namespace totograph::kronos
