// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/inputs.hpp>
#include <totograph/models/toto2/states.hpp>
#include <totograph/nn/extreme_values.hpp>

namespace totograph::toto2 {

/// From the head's numbers to quantiles in the units of the series. Tensors are `[batch, 1, variates, patches,
/// patch_size, levels]`.
template <class Parts>
class Quantiles {
public:
    constexpr explicit Quantiles(const Inputs<Parts>& inputs) : inputs_(inputs) {}

    /// Ascending quantiles of the head's `[batch, 1, variates, patches, patch_size * levels]`. Location and scale are
    /// those of what is forecast, `[batch, 1, variates, 1, 1]`. An infinity becomes the largest (or smallest) finite
    /// value of its level and patch, or what the cap lets it be.
    [[nodiscard]] constexpr Tensor record(Tensor head, Tensor location, Tensor scale) const {
        const Tensor by_level =
            reshape(head, {sizes.batch, 1, sizes.variates, Parts::block, sizes.patch_size, sizes.values});
        const Tensor values = sinh(by_level) * of_row(scale) + of_row(location);
        if constexpr (is_capped) {
            const Tensor low = of_row(inputs_.recorder().state(states::cap_low, row_shape));
            return sort(minimum(maximum(values, low), of_row(inputs_.recorder().state(states::cap_high, row_shape))));
        } else {
            return sort(replace_infinities(values));
        }
    }

    /// The smallest and the largest observed value of each row, f32 `[batch, 1, variates, 1, 1]`; of none, the largest
    /// float and its negative.
    struct Extremes {
        Tensor low;
        Tensor high;
    };
    [[nodiscard]] static constexpr Extremes extremes(Tensor values, Tensor observed) {
        return {-largest_observed(-values, observed), largest_observed(values, observed)};
    }

    /// Whether quantiles stay within bounds that the context sets.
    static constexpr bool is_capped = Parts::inference.quantile_real_cap_k > 0;
    static constexpr Shape row_shape{Parts::sizes.batch, 1, Parts::sizes.variates, 1, 1};

    /// Keeps the bounds of the context for all passes. `scale` is that of its newest patch.
    constexpr void keep_bounds(const Extremes& of_context, Tensor scale) const {
        Recorder& r = inputs_.recorder();
        const Tensor reach = scale * Parts::inference.quantile_real_cap_k;
        r.store(r.state(states::cap_low, row_shape), of_context.low - reach);
        r.store(r.state(states::cap_high, row_shape), of_context.high + reach);
    }

    /// The median of each step, `[batch, 1, variates, patches, patch_size]`.
    [[nodiscard]] static constexpr Tensor median(Tensor quantiles) {
        return nn::replace_extreme_values(without_last(slice(quantiles, -1, sizes.values / 2, 1)));
    }

    /// As results are stored, `[batch, levels, variates, patches, patch_size]`, with marks.
    [[nodiscard]] static constexpr Tensor as_result(Tensor quantiles) {
        const Shape apart{sizes.batch, sizes.variates, Parts::block, sizes.patch_size, sizes.values};
        // Marked last: what marks them writes them to where they belong.
        return nn::mark_extreme_values(permute(reshape(quantiles, apart), {0, 4, 1, 2, 3}));
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;
    static constexpr double largest = static_cast<double>(std::numeric_limits<float>::max());

    [[nodiscard]] static constexpr Tensor of_row(Tensor x) { return reshape(x, with_last(row_shape, 1)); }
    [[nodiscard]] static constexpr Tensor without_last(Tensor x) {
        return reshape(x, {sizes.batch, 1, sizes.variates, Parts::block, sizes.patch_size});
    }

    /// By patches, then of those: a series is long, and a block would take all of it alone.
    [[nodiscard]] static constexpr Tensor largest_observed(Tensor values, Tensor observed) {
        const Tensor of_patches = amax(where(observed, values, values.recorder().constant(-largest)));
        return reshape(amax(reshape(of_patches, with_axis(row_shape, -1, values.extent(3)))), row_shape);
    }

    [[nodiscard]] static constexpr Tensor replace_infinities(Tensor values) {
        // Patches last, for the largest of each.
        const Tensor by_patch = permute(values, {0, 1, 2, 3, 5, 4});
        const Tensor none = values.recorder().constant(-largest);
        const auto largest_finite = [&](Tensor x) {
            const Tensor found = amax(where(less(abs(x), infinity), x, none));
            return permute(found, {0, 1, 2, 3, 5, 4});
        };
        // Where nothing of a patch is finite, it stays an infinity, and is marked as such.
        const auto or_infinity = [&](Tensor found) {
            return where(equal(found, -largest), values.recorder().constant(infinity), found);
        };
        const Tensor high = or_infinity(largest_finite(by_patch));
        const Tensor low = or_infinity(largest_finite(-by_patch));
        return maximum(minimum(values, high), -low);
    }
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    Inputs<Parts> inputs_;
};

}  // namespace totograph::toto2
