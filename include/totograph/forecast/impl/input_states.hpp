// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/input_states.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <totograph/core/inline.hpp>
#include <totograph/core/runs.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph {

TOTOGRAPH_INLINE void InputStates::fill(const Series& series, const Bucket& request, std::uint64_t seed,
                                        std::uint32_t first_sample, Imputation imputation) const noexcept {
    fill_series(series, imputation);
    fill_groups(series);
    fill_exogenous(series, request);
    fill_request(request, divide_rounding_up(series.steps, sizes_.patch_size));
    if (auto* halves = integers(states::seed); halves != nullptr) {
        halves[0] = static_cast<std::int32_t>(static_cast<std::uint32_t>(seed));
        halves[1] = static_cast<std::int32_t>(static_cast<std::uint32_t>(seed >> 32U));
    }
    if (auto* first = integers(states::first_draw); first != nullptr) {
        first[0] = static_cast<std::int32_t>(series.first_series);
        first[1] = static_cast<std::int32_t>(first_sample);
    }
}

namespace forecast_detail {

/// The marks of one variate of one series, whose values begin at an element.
inline std::span<const std::uint8_t> marks_of(const Series& series, Index from) {
    return series.observed.empty()
               ? series.observed
               : series.observed.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(series.steps));
}

}  // namespace forecast_detail

TOTOGRAPH_INLINE void InputStates::fill_series(const Series& series, Imputation imputation) const noexcept {
    if (std::int32_t* length = integers(states::length); length != nullptr) {
        const Index patches = divide_rounding_up(series.steps, sizes_.patch_size);
        for (Index b = 0; b < sizes_.batch; ++b) {
            length[b] = static_cast<std::int32_t>(b < series.batch ? patches : 1);
        }
    }
    fill_rows(series, floats(states::series), [&](Index from, float* to) {
        copy_values(series, from, to);
        if (!series.observed.empty()) {
            impute(to, forecast_detail::marks_of(series, from).data(), series.steps, imputation);
        }
    });
    fill_observed(series);
}

TOTOGRAPH_INLINE void InputStates::fill_observed(const Series& series) const noexcept {
    fill_rows(series, floats(states::observed), [&](Index from, float* to) { copy_observed(series, from, to); });
}

TOTOGRAPH_INLINE void InputStates::drop_leading_gaps(const Series& series) const noexcept {
    for (Index b = 0; b < series.batch && !series.observed.empty(); ++b) {
        const auto* const seen = series.observed.data() + series.row_begin(b * series.variates);
        const Index missing = std::find_if(seen, seen + series.steps, [](auto s) { return s != 0; }) - seen;
        if (missing == 0 || missing == series.steps) {
            continue;
        }
        integers(states::length)[b] = static_cast<std::int32_t>(series.steps - missing);
        for (Index v = 0; v < sizes_.variates; ++v) {
            float* const row = floats(states::series) + (b * sizes_.variates + v) * sizes_.context_steps();
            std::fill(std::copy(row + missing, row + series.steps, row), row + series.steps, 0.0F);
        }
    }
}

TOTOGRAPH_INLINE void InputStates::copy_values(const Series& series, Index from, float* to) noexcept {
    const float* const given = series.values.data() + from;
    if (!has_gap(forecast_detail::marks_of(series, from))) {
        std::copy_n(given, series.steps, to);
        return;
    }
    // What the reference's caller leaves in a gap is read by the patch embedding, so it is kept.
    std::transform(given, given + series.steps, to, [](float value) { return std::isfinite(value) ? value : 0.0F; });
}

TOTOGRAPH_INLINE void InputStates::copy_observed(const Series& series, Index from, float* to) noexcept {
    if (!has_gap(forecast_detail::marks_of(series, from))) {
        for_each_in_runs(series.steps, [=](Index step) { to[step] = 1.0F; });  // std::fill_n is no vectors at -O2
        return;
    }
    const auto* const given = series.observed.data() + from;
    std::transform(given, given + series.steps, to, [](std::uint8_t mark) { return mark != 0 ? 1.0F : 0.0F; });
}

TOTOGRAPH_INLINE void InputStates::fill_groups(const Series& series) const noexcept {
    std::int32_t* groups = integers(states::groups);
    if (groups == nullptr) {
        return;
    }
    const Index patches = divide_rounding_up(series.steps, sizes_.patch_size);
    const Index padding = patches * sizes_.patch_size - series.steps;
    const bool per_step = series.has_groups_by_step();
    for (Index b = 0; b < sizes_.batch; ++b) {
        for (Index v = 0; v < sizes_.variates; ++v) {
            for (Index p = 0; p < sizes_.context_patches; ++p) {
                auto& id = groups[(b * sizes_.variates + v) * sizes_.context_patches + p];
                if (b >= series.batch || v >= series.variates) {
                    id = static_cast<std::int32_t>(-1 - v);
                } else if (series.groups.empty()) {
                    id = 0;
                } else {
                    const Index row = b * series.variates + v;
                    const Index newest = std::min((p + 1) * sizes_.patch_size - padding, series.steps) - 1;
                    id = series.groups[static_cast<std::size_t>(per_step ? series.row_begin(row) + newest : row)];
                }
            }
        }
    }
}

TOTOGRAPH_INLINE void InputStates::fill_exogenous(const Series& series, const Bucket& request) const noexcept {
    const Index first = series.variates - series.exogenous;
    if (float* is_exogenous = floats(states::is_exogenous); is_exogenous != nullptr) {
        for (Index row = 0; row < sizes_.batch * sizes_.variates; ++row) {
            const Index v = row % sizes_.variates;
            is_exogenous[row] = v >= first && v < series.variates ? 1.0F : 0.0F;
        }
    }
    float* future = floats(states::future);
    if (future == nullptr) {
        return;
    }
    float* is_known = floats(states::is_known);
    float* observed = floats(states::future_observed);
    const Index horizon = sizes_.steps * sizes_.patch_size;
    const Index known = series.future_steps == 0 ? request.horizon : series.future_steps;
    std::fill_n(future, sizes_.batch * sizes_.variates * horizon, 0.0F);
    if (is_known != nullptr) {
        std::fill_n(is_known, sizes_.batch * sizes_.variates, 0.0F);
    }
    if (observed != nullptr) {
        std::fill_n(observed, sizes_.batch * sizes_.variates * horizon, 0.0F);
    }
    for (Index b = 0; b < series.batch && !series.future_exogenous.empty(); ++b) {
        for (Index x = 0; x < series.exogenous; ++x) {
            const Index row = b * sizes_.variates + first + x;
            if (is_known != nullptr) {
                is_known[row] = 1.0F;
            }
            std::copy_n(series.future_exogenous.data() + (b * series.exogenous + x) * known, request.horizon,
                        future + row * horizon);
            for (Index step = 0; step < request.horizon; ++step) {
                const auto at = static_cast<std::size_t>((b * series.exogenous + x) * known + step);
                const bool is_seen = series.future_observed.empty() || series.future_observed[at] != 0;
                if (observed != nullptr) {
                    observed[row * horizon + step] = is_seen ? 1.0F : 0.0F;
                }
                future[row * horizon + step] = is_seen ? future[row * horizon + step] : 0.0F;
            }
        }
    }
}

TOTOGRAPH_INLINE void InputStates::fill_request(const Bucket& request, Index context_patches) const noexcept {
    std::int32_t* to = integers(states::request);
    if (to == nullptr) {
        return;
    }
    const Index values = request.samples > 0 ? request.samples : sizes_.values;
    const Index patches = divide_rounding_up(request.horizon, sizes_.patch_size);
    const Index positions = context_patches > 0 ? sizes_.prepended + context_patches : 0;
    const Index tokens = positions > 0 ? positions + patches : 0;
    const Index first_tokens = positions > 0 ? sizes_.first_tokens(positions, patches) : 0;
    for (const Index size : {request.batch, request.variates, request.horizon, values, positions, patches, tokens,
                             first_tokens, sizes_.rows_of(values)}) {
        *to++ = static_cast<std::int32_t>(size);
    }
}

}  // namespace totograph
