// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/layer.hpp>
#include <totograph/models/toto2/residuals.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/repeat_layers.hpp>
#include <totograph/nn/rms_norm.hpp>

namespace totograph::toto2 {

/// All layers, from embedded tokens to the rows that the head reads.
///
/// A `Pass` says what tokens see of each other:
///
/// | Member | What it does |
/// |---|---|
/// | `rotate_query(q)`, `rotate_key(k)` | rotates them for the positions of all tokens |
/// | `attend(layer, q, k, v)` | attention over time of all tokens |
/// | `needed(x)` | the same tokens, bounded to those that somebody needs |
/// | `read(x)`, `read_ids(ids)` | of all tokens, those that the head reads |
/// | `rotate_read_query(q)`, `attend_read(layer, q, k, v)` | the same for queries of these alone |
template <class Parts>
class Stack {
public:
    /// x is `[batch, 1, variates, tokens, width]`, `ids` i32 `[batch, variates, tokens]`: variates of equal ids see
    /// each other.
    template <class Pass>
    static constexpr Tensor record(Tensor x, Tensor ids, Pass& pass) {
        Recorder& r = x.recorder();
        ResidualStream stream(r, Parts::rewrites.plain_residuals, config.norm_eps);
        x = pass.needed(x);
        if constexpr (narrowing < 0 && narrows) {
            x = pass.read(x);
            ids = pass.read_ids(ids);
        }
        bool has_all_tokens = !narrows || narrowing >= 0;
        const auto record_layer = [&](const Carried& given, LayerKind kind, LayerIndex number) {
            ResidualStream of_layer = stream.at(given[1]);
            Tensor result = layer(number, kind, given[0], ids, of_layer, pass);
            result = has_all_tokens ? pass.needed(result) : result;
            Parts::tap(Pass::layer_tap, result, number);
            return Carried{result, of_layer.square()};
        };
        constexpr int alike = narrows && narrowing >= 0 ? narrowing : config.num_layers;
        Carried carried = nn::repeat_layers(
            alike, config.layer_group_size, Carried{x, stream.square()},
            [](int place) { return config.layer_kind(place); }, record_layer);
        if constexpr (alike < config.num_layers) {
            stream = stream.at(carried[1]);
            x = narrowing_layer(carried[0], ids, stream, pass);
            has_all_tokens = false;
            Parts::tap(Pass::layer_tap, x, narrowing);
            carried = {x, stream.square()};
            for (int number = narrowing + 1; number < config.num_layers; ++number) {
                carried = record_layer(carried, LayerKind::variate, number);
            }
        }
        stream = stream.at(carried[1]);
        x = carried[0];
        const Tensor normed = nn::rms_norm(x, stream.epsilon());
        const Tensor out =
            config.norm_include_weight ? normed * r.weight("transformer.out_norm.weight", {config.d_model}) : normed;
        Parts::tap(Pass::out_norm_tap, out);
        return narrows ? out : pass.read(pass.needed(out));
    }

private:
    static constexpr Toto2Config config = Parts::config;
    static constexpr bool narrows = Parts::rewrites.read_rows_only;
    static constexpr bool is_lone = Parts::sizes.variates == 1;
    /// The last layer over time: its keys and values are of all tokens; all that follows is of those that are read.
    static constexpr int narrowing = config.last_time_layer();

    /// The stream, and the square of its factor.
    using Carried = std::array<Tensor, 2>;

    /// A layer of all rows.
    template <class Pass>
    static constexpr Tensor layer(LayerIndex number, LayerKind kind, Tensor x, Tensor ids, ResidualStream& stream,
                                  Pass& pass) {
        const Layer<Parts> layer(x.recorder(), number);
        const Tensor normed = layer.norm_1(x, stream);
        if (is_lone && Parts::rewrites.lone_variate_matrix && kind == LayerKind::variate) {
            return layer.finish_alone(x, normed, stream);
        }
        const Tensor value = layer.value(normed);
        if (kind == LayerKind::variate) {
            return layer.finish(x, among_variates(layer, normed, value, ids), stream);
        }
        const Tensor key = pass.rotate_key(layer.key(normed));
        const Tensor query = pass.rotate_query(layer.query(normed));
        return layer.finish(x, pass.attend(number, query, key, value), stream);
    }

    /// The last layer over time; `ids` become those of the rows that are read.
    template <class Pass>
    static constexpr Tensor narrowing_layer(Tensor x, Tensor& ids, ResidualStream& stream, Pass& pass) {
        const Layer<Parts> layer(x.recorder(), narrowing);
        const Tensor normed = layer.norm_1(x, stream);
        const Tensor value = pass.needed(layer.value(normed));
        const Tensor key = pass.needed(pass.rotate_key(layer.key(normed)));
        x = pass.read(x);
        ids = pass.read_ids(ids);
        const Tensor query = pass.rotate_read_query(layer.query(layer.norm_1(x, stream)));
        return layer.finish(x, pass.attend_read(narrowing, query, key, value), stream);
    }

    static constexpr Tensor among_variates(const Layer<Parts>& layer, Tensor normed, Tensor value, Tensor ids) {
        if constexpr (Parts::rewrites.skip_lone_variate && is_lone) {
            return as_attended(value);
        } else {
            const Tensor query = layer.query(normed);
            return nn::variate_attention(query, layer.key(normed), value, ids, layer.options());
        }
    }

    /// What attention gives that sees one key: its values, for each head that shares them.
    static constexpr Tensor as_attended(Tensor value) {
        constexpr Index sharing = config.num_heads / config.groups();
        if constexpr (sharing == 1 && config.attn_bias) {
            return value;
        } else {
            // Through heads and back, also where each has its own: without a bias in between, the factor of a row that
            // the norm leaves would be deferred behind the next GEMM, and a forecast of one variate would round
            // otherwise than where its bucket has room for more.
            const Shape apart{value.extent(0), value.extent(3), config.groups(), 1, config.v_dim};
            return reshape(expand(reshape(value, apart), with_axis(apart, 3, sharing)),
                           with_axis(value.shape(), -1, config.num_heads * config.v_dim));
        }
    }
};

}  // namespace totograph::toto2
