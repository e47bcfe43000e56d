// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/unit_scaling.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/name.hpp>

namespace totograph::toto2 {

/// The two projections with a hidden layer, into the network and out of it, with the constants of unit scaling in their
/// weights.
template <class Parts>
struct Projections {
    static constexpr Index width = Parts::config.d_model;
    static constexpr Index hidden = 4 * width;
    static constexpr Index patch_size = Parts::config.patch_size;
    using Embedding = nn::ResidualMlp<nn::ResidualMlpSize{.in = 2 * patch_size, .hidden = hidden, .out = width}>;
    using Head =
        nn::ResidualMlp<nn::ResidualMlpSize{.in = width, .hidden = hidden, .out = Parts::config.levels* patch_size}>;

    /// From patches and where they are missing, `[..., patch_size]` each, to `[..., width]`.
    static constexpr Tensor embed(Tensor values, Tensor missing) {
        Recorder& r = values.recorder();
        constexpr double of_patch = unit_scale(static_cast<double>(2 * patch_size));
        constexpr double of_hidden = unit_scale(static_cast<double>(hidden));
        const Embedding embedding{
            .first = typename Embedding::First(r, "patch_proj.linear1"_name).times(of_patch),
            .second = typename Embedding::Second(r, "patch_proj.linear2"_name)
                          .of_input_times(silu_scale)
                          .times(of_hidden * skip_sum_scale),
            .skip = typename Embedding::Skip(r, "patch_proj.skip_proj"_name).times(of_patch * skip_sum_scale)};
        return run(embedding, concatenate(values, missing, -1));
    }

    /// A patch of which nothing is known, `[1, width]`: weights alone.
    static constexpr Tensor embed_unknown(Recorder& r) {
        const Shape patch{1, patch_size};
        const Tensor zeros = expand(r.constant(0), patch);
        return embed(zeros, expand(r.constant(1), patch));
    }

    /// From `[..., width]` to the quantiles of each step, `[..., patch_size * levels]`, the level fastest.
    static constexpr Tensor head(Tensor x) {
        Recorder& r = x.recorder();
        constexpr double readout = 1 / static_cast<double>(width);
        const Head head{.first = typename Head::First(r, "output_head.param_projection.proj.linear1"_name)
                                     .times(unit_scale(static_cast<double>(width))),
                        .second = typename Head::Second(r, "output_head.param_projection.proj.linear2"_name)
                                      .of_input_times(silu_scale)
                                      .times(skip_sum_scale / static_cast<double>(hidden)),
                        .skip = typename Head::Skip(r, "output_head.param_projection.proj.skip_proj"_name)
                                    .times(readout * skip_sum_scale)};
        return run(head, x);
    }

private:
    template <class Mlp>
    static constexpr Tensor run(const Mlp& mlp, Tensor x) {
        return Parts::rewrites.joined_projections ? mlp.record_joined(x) : mlp.record(x);
    }
};

}  // namespace totograph::toto2
