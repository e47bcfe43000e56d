// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string_view>

#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/states.hpp>
#include <totograph/nn/patch_embedding.hpp>
#include <totograph/nn/scalers.hpp>

namespace totograph::toto1 {

/// Patches on a common scale, and how to undo it.
struct ScaledPatches {
    Tensor patches;   ///< f32 `[batch, samples, variates, patches, patch_size]`
    Tensor location;  ///< f32, broadcasts to `patches`: one for each series, patch or step, by the kind of scaler.
    Tensor scale;
};

/// The reference's smallest scales.
inline constexpr double minimum_global_scale = 1e-3;
inline constexpr double minimum_causal_scale = 0.1;

/// 10^exponent, for what `config.json` may hold; infinity, or 0, for what f64 cannot hold.
constexpr double power_of_ten(double exponent) {
    const bool negative = exponent < 0;
    const double magnitude = negative ? -exponent : exponent;
    constexpr double largest = 308.25;
    if (!(magnitude < largest)) {
        return negative ? 0.0 : std::numeric_limits<double>::infinity();
    }
    const int whole = static_cast<int>(magnitude);
    const double left = magnitude - whole;
    double result = 1;
    for (int i = 0; i < whole; ++i) {
        result *= 10;
    }
    double term = 1;  // 10^left = exp(left ln 10), by its series
    double sum = 1;
    for (int i = 1; i < 40; ++i) {
        term *= left * 2.302585092994045684 / i;
        sum += term;
    }
    result *= sum;
    return negative ? 1 / result : result;
}

/// Divides by the scale after subtracting the location. `x` is `[batch, samples, variates, steps]`.
constexpr ScaledPatches apply_scale(Tensor x, Tensor location, Tensor scale, const Toto1Config& config) {
    const Tensor f32_location = cast(location, DType::f32);
    const Tensor f32_scale = cast(scale, DType::f32);
    return {(nn::patchify(x, config.patch_size) - f32_location) / f32_scale, f32_location, f32_scale};
}

/// Scales patches by causal moments: of each patch's end, or of each step.
constexpr ScaledPatches scale_causally(Tensor x, const nn::CausalMoments& moments, Tensor global_scale,
                                       const Toto1Config& config) {
    const auto of_patches = [&](Tensor sums) {
        return nn::patchify(sums, config.scaler == Scaler::causal_patch ? 1 : config.patch_size);
    };
    const Tensor mean = of_patches(nn::mean_of(moments.at_ends));
    const Tensor variance = of_patches(nn::variance_of(moments.at_ends));
    Tensor scale = sqrt(variance + minimum_causal_scale);
    if (config.scaler == Scaler::causal_patch && config.stabilize_with_global) {
        const Shape with_patches = with_last(global_scale.shape(), 1);
        // The reference compares with the smallest scale in f32.
        scale = nn::stabilize(scale, reshape(global_scale, with_patches), power_of_ten(-config.scale_factor_exponent),
                              power_of_ten(config.scale_factor_exponent),
                              static_cast<double>(static_cast<float>(minimum_causal_scale)));
    }
    return apply_scale(x, mean, scale, config);
}

/// The moments that earlier steps left behind.
class ScalerState {
public:
    constexpr ScalerState(Recorder& recorder, const ForecastSizes& sizes)
        : recorder_(&recorder),
          carried_{sizes.batch, sizes.samples, sizes.variates, 1},
          global_{sizes.batch, 1, sizes.variates, 1} {}

    [[nodiscard]] constexpr RunningMoments running() const {
        const Tensor count = state(states::running_count, carried_);
        const Tensor total = state(states::running_total, carried_);
        return {count, total, state(states::running_spread, carried_)};
    }
    constexpr void keep_running(const RunningMoments& moments) {
        const auto to = running();
        const auto widen = [&](Tensor x) { return x.shape() == carried_ ? x : expand(x, carried_); };
        recorder_->store(to.count, widen(moments.count));
        recorder_->store(to.total, widen(moments.total));
        recorder_->store(to.spread, widen(moments.spread));
    }
    [[nodiscard]] constexpr nn::GlobalStatistics global() const {
        const Tensor mean = state(states::global_mean, global_);
        return {mean, state(states::global_scale, global_)};
    }
    constexpr void keep_global(const nn::GlobalStatistics& statistics) {
        recorder_->store(global().mean, statistics.mean);
        recorder_->store(global().scale, statistics.scale);
    }

private:
    [[nodiscard]] constexpr Tensor state(std::string_view name, const Shape& shape) const {
        return recorder_->state(name, shape, DType::f64, {}, StateUse::any, states::row_bounds());
    }

    Recorder* recorder_;
    Shape carried_;
    Shape global_;
};

/// Steps that share a causal scale.
constexpr Index steps_of_scale(const Toto1Config& config) {
    return config.scaler == Scaler::causal_patch ? config.patch_size : 1;
}

/// Statistics of the whole context, kept for later steps.
constexpr nn::GlobalStatistics context_statistics(Tensor x, Tensor observed, const Toto1Config& config) {
    return nn::global_statistics(x, observed,
                                 config.scaler == Scaler::global ? minimum_global_scale : minimum_causal_scale);
}

/// Scales a whole series from its beginning; `x` and `observed` are `[batch, samples, variates, steps]`.
constexpr ScaledPatches scale_series(Tensor x, Tensor observed, const nn::GlobalStatistics& global,
                                     const Toto1Config& config, RunningMoments* running = nullptr) {
    if (config.scaler == Scaler::global) {
        const Shape with_patches = with_last(global.mean.shape(), 1);
        return apply_scale(x, reshape(global.mean, with_patches), reshape(global.scale, with_patches), config);
    }
    const auto moments = nn::causal_moments(x, &observed, steps_of_scale(config));
    if (running != nullptr) {
        *running = moments.running;
    }
    return scale_causally(x, moments, global.scale, config);
}

/// Scales the patch that follows what `state` has seen, and moves the state on.
constexpr ScaledPatches scale_next_patch(Tensor x, ScalerState& state, const Toto1Config& config) {
    const auto global = state.global();
    if (config.scaler == Scaler::global) {
        const Shape with_patches = with_last(global.mean.shape(), 1);
        return apply_scale(x, reshape(global.mean, with_patches), reshape(global.scale, with_patches), config);
    }
    const auto before = state.running();
    const auto moments = nn::causal_moments(x, nullptr, steps_of_scale(config), 0, &before);
    const auto scaled = scale_causally(x, moments, global.scale, config);
    state.keep_running(moments.running);
    return scaled;
}

/// The scale of one patch; a scale for all patches is that of each.
constexpr Tensor of_patch(Tensor statistics, Tensor patch) {
    return statistics.extent(3) == 1 ? statistics : take(statistics, 3, patch);
}

}  // namespace totograph::toto1
