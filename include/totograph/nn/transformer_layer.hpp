// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/block.hpp>

namespace totograph::nn {

/// A pre-norm layer: x + attention(norm1(x)), then x + feed_forward(norm2(x)).
template <class Norm, class Attention, class FeedForward>
struct TransformerLayer {
    static_assert(Norm::width == Attention::width && Attention::width == FeedForward::width,
                  "totograph: the norms, the attention and the feed-forward of a transformer layer must be of one "
                  "width.");

    static constexpr Index width = Norm::width;
    static constexpr Index parameters = 2 * Norm::parameters + parameters_of<Attention, FeedForward>;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = flops_of<Norm, Attention, Norm, FeedForward>;

    Norm norm1;
    Attention attention;
    Norm norm2;
    FeedForward feed_forward;

    /// The whole layer. `attend` maps queries, keys and values to what is attended: here a model rotates, and keeps or
    /// reads a cache.
    template <class Attend>
    [[nodiscard]] constexpr Tensor record(Tensor x, Attend&& attend) const {
        return finish(x, attend(project(x)));
    }

    /// Its first part: queries, keys and values of norm1(x).
    [[nodiscard]] constexpr QueryKeyValue project(Tensor x) const { return attention.project(norm1.record(x)); }

    /// Its last part, from what is attended on.
    [[nodiscard]] constexpr Tensor finish(Tensor x, Tensor attended) const {
        const Tensor hidden = x + attention.output.record(attended);
        return hidden + feed_forward.record(norm2.record(hidden));
    }
};

}  // namespace totograph::nn
