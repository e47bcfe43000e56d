// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/forecast_states.hpp>
#include <totograph/models/toto1/layers.hpp>
#include <totograph/nn/attention.hpp>

namespace totograph::toto1 {

/// The transformer over a whole sequence of patches, with causal attention.
template <class Parts>
class Sequence {
public:
    constexpr Sequence(Recorder& recorder, const ForecastStates& states) : r_(&recorder), states_(states) {}

    /// Embeds patches, runs the layers over them, and gives the last patch (or all of them). `keep` is told the keys
    /// and values of each time-wise layer and returns those to attend to.
    template <class Keep>
    [[nodiscard]] constexpr Tensor record(Tensor patches, Tensor groups, Tensor patch_count, Keep&& keep) const {
        const Tensor valid = Parts::prepended(patch_count);
        const Tensor last = valid - 1.0;
        // Ahead of the first GEMM: a device computes rotations beside the scaler.
        const auto rotary = Parts::rotary(positions(patches.extent(3) + sizes.prepended), last);
        Tensor x = Transformer::patch_embedding(*r_).record(patches);
        Parts::tap("tap.patch_embeddings", x);
        x = prepend_labels(x);
        groups = prepend_groups(groups);
        const auto record_layer = [&](Tensor input, LayerKind kind, LayerIndex number) {
            const auto layer = Transformer::layer(*r_, number);
            const Tensor result = layer.record(input, [&](const nn::QueryKeyValue& projected) {
                if (kind == LayerKind::space_wise) {
                    return Parts::space_wise_attention(layer, projected, groups);
                }
                const Tensor query = rotary.query(projected.query);
                const auto kept = keep(number, rotary.key(projected.key), projected.value);
                return layer.attention.causal(query, kept.key, kept.value, valid);
            });
            Parts::tap("tap.layer", result, number);
            return result;
        };
        x = record_layers(config, narrowing < 0 ? config.num_layers : narrowing, x, record_layer);
        if constexpr (narrowing >= 0) {
            const auto layer = Transformer::layer(*r_, narrowing);
            const auto projected = layer.project(x);
            const auto kept = keep(narrowing, rotary.key(projected.key), projected.value);
            x = take(x, 3, last);
            groups = take(groups, 2, last);
            const Tensor query = rotary.query_at(layer.project(x).query, last);
            x = layer.finish(x, layer.attention.last_position(query, kept.key, kept.value, valid));
            for (int number = narrowing + 1; number < config.num_layers; ++number) {
                x = record_layer(x, config.layer_kind(number), number);
            }
        }
        if constexpr (Parts::rewrites.last_patch_only) {
            return narrowing < 0 ? take(x, 3, last) : x;
        }
        return sizes.prepended == 0 ? x : slice(x, 3, sizes.prepended, x.extent(3) - sizes.prepended);
    }

private:
    using Transformer = typename Parts::Transformer;
    static constexpr Toto1Config config = Parts::config;
    static constexpr ForecastSizes sizes = Parts::sizes;
    /// The last time-wise layer: its keys and values are of all positions; all that follows is of the last one.
    static constexpr int narrowing =
        Parts::rewrites.last_patch_only ? config.first_trailing_space_wise_layer() - 1 : -1;

    /// Positions as f32 `[1, 1, 1, count, 1, 1]`.
    [[nodiscard]] constexpr Tensor positions(Index count) const {
        return reshape(r_->iota(count), {1, 1, 1, count, 1, 1});
    }

    /// Puts the variate labels before the patches.
    [[nodiscard]] constexpr Tensor prepend_labels(Tensor x) const {
        if constexpr (config.variate_labels) {
            const Tensor labels = Transformer::variate_labels(states_.is_exogenous());
            return concatenate(expand(labels, with_axis(x.shape(), 3, 1)), x, 3);
        }
        return x;
    }

    /// Group ids for a sequence that begins with labels.
    [[nodiscard]] static constexpr Tensor prepend_groups(Tensor groups) {
        return config.variate_labels ? concatenate(slice(groups, 2, 0, 1), groups, 2) : groups;
    }

    Recorder* r_;
    ForecastStates states_;
};

}  // namespace totograph::toto1
