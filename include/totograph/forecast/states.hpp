// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/bounds.hpp>

/// The states through which a forecaster talks to the programs of a model, by name. Of the inputs a program declares
/// those that it reads.
namespace totograph::states {

// Written before each forecast. Patches of a series that is shorter than the bucket come first; the rest is zero and
// marked as not observed. `observed` follows from `Series::observed` and from sizes alone. What a request would write
// there as the one before it did may be left out: padding of both, and marks of a request like the last one.
inline constexpr std::string_view series = "series";              // f32 [batch, 1, variates, context_steps]
inline constexpr std::string_view observed = "observed";          // f32, same shape: 1 where observed
inline constexpr std::string_view groups = "groups";              // i32 [batch, variates, context_patches]
inline constexpr std::string_view length = "length";              // i32 [batch]: patches of context
inline constexpr std::string_view seed = "seed";                  // i32 [2]: low and high half
inline constexpr std::string_view first_draw = "first_draw";      // i32 [2]: numbers of its first series and sample
inline constexpr std::string_view is_exogenous = "is_exogenous";  // f32 [batch, 1, variates, 1, 1]
inline constexpr std::string_view future = "future";              // f32 [batch, 1, variates, steps, patch_size]
inline constexpr std::string_view future_observed = "future_observed";  // f32, same shape: 1 where it is known
inline constexpr std::string_view is_known = "is_known";                // f32 [batch, 1, variates, 1, 1]
inline constexpr std::string_view request = "request";                  // i32 [request_size]: what is asked for

// Read after each forecast. Where the model gave no finite number stands what `ResultKind::not_finite` says.
inline constexpr std::string_view forecast = "forecast";  // f32 [batch, values, variates, steps, patch_size]

/// The numbers of `request`, counted from 1: where a program declares it with `StateUse::bounds`, they bound axes
/// (`Recorder::state`), and what is padding alone is not computed.
enum Request : std::int8_t {
    asked_series = 1,
    asked_variates,
    asked_steps,      ///< Of the horizon.
    asked_values,     ///< Of each step: samples, or what the model has.
    asked_positions,  ///< Patches of context, of the longest series, and the tokens before them.
    asked_patches,    ///< Of the horizon.
    asked_tokens,     ///< Both together.
    /// Those that the first program reads: positions, and patches of the first block.
    asked_first_tokens,
    asked_rows,  ///< Of a program with rows that all samples share, and behind these some of each (`ForecastSizes`).
};
inline constexpr Index request_size = asked_rows;

/// The bounds of rows `[batch, samples, variates, positions, width]`.
/// @param positions  the bound of that axis
constexpr AxisBounds row_bounds(std::int8_t positions = 0) {
    return {asked_series, asked_values, asked_variates, positions};
}

}  // namespace totograph::states
