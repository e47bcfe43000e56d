// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::forecast_detail {

/// Whether programs declare the states that every forecaster reads and writes, `request` and `forecast`, and the series
/// with the size that is written. Prints a sentence where they do not.
///
/// @tparam Layout  the `StateLayout` of the programs
template <class Layout, ForecastSizes sizes>
consteval bool check_states() {
    constexpr auto is = [](std::string_view name, DType dtype, Index size) {
        const std::size_t place = Layout::place_of(name);
        return place < Layout::count && Layout::entries[place].slot.dtype == dtype &&
               Layout::entries[place].slot.shape.size() == size;
    };
    static_assert(
        is(states::request, DType::i32, states::request_size),
        "totograph: a program of a family declares the state `request`, i32 [request_size] (forecast/states.hpp).");
    static_assert(
        is(states::forecast, DType::f32, sizes.batch * sizes.values * sizes.variates * sizes.forecast_steps()),
        "totograph: a program of a family declares the state `forecast`, f32 [batch, values, variates, steps, "
        "patch_size] (forecast/states.hpp).");
    static_assert(!Layout::has(states::series) ||
                      is(states::series, DType::f32, sizes.batch * sizes.variates * sizes.context_steps()),
                  "totograph: the state `series` is f32 [batch, 1, variates, context_steps] (forecast/states.hpp).");
    return true;
}

}  // namespace totograph::forecast_detail
