// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::forecast_detail {

/// What a state holds.
struct StateForm {
    DType dtype = DType::f32;
    Shape shape;

    friend constexpr bool operator==(const StateForm&, const StateForm&) = default;
};

// Which state the compiler's message is about.
namespace state {

struct series;
struct observed;
struct groups;
struct length;
struct seed;
struct first_draw;
struct is_exogenous;
struct future;
struct future_observed;
struct is_known;
struct request;
struct forecast;

}  // namespace state

/// The compiler prints the template arguments beside the sentence.
template <class State, StateForm found, StateForm expected>
consteval bool check_form() {
    static_assert(found == expected,
                  "totograph: a state of a forecast has another shape or dtype than what is written to it or read from "
                  "it; declare it as forecast/states.hpp lists it.");
    return true;
}

/// Checks a state that programs may leave out.
template <class Layout, class State, StateForm expected, std::size_t place>
consteval bool check_state_at() {
    if constexpr (place < Layout::count) {
        return check_form<State, StateForm{Layout::entries[place].slot.dtype, Layout::entries[place].slot.shape},
                          expected>();
    } else {
        return true;
    }
}

/// Whether programs declare the states that every forecaster reads and writes, `request` and `forecast`, and all that
/// `states.hpp` lists as it is written. Prints a sentence where they do not.
///
/// @tparam Layout   the `StateLayout` of the programs
/// @tparam imputes  whether the family says an `imputation` other than `as_given`
template <class Layout, ForecastSizes sizes, bool imputes = false>
consteval bool check_states() {
    static_assert(
        Layout::has(states::request),
        "totograph: a program of a family declares the state `request`, i32 [request_size] (forecast/states.hpp).");
    static_assert(
        Layout::has(states::forecast),
        "totograph: a program of a family declares the state `forecast`, f32 [batch, values, variates, steps, "
        "patch_size] (forecast/states.hpp).");
    static_assert(!sizes.known_future || Layout::has(states::future),
                  "totograph: no program of this family reads a known future (the state `future`), so its buckets have "
                  "exogenous = 0; exogenous variates without a known future need none.");
    static_assert(!imputes || (Layout::has(states::series) && Layout::has(states::observed)),
                  "totograph: a family with an imputation has the inputs `series` and `observed`, by whose marks gaps "
                  "are filled.");
    constexpr Shape steps{sizes.batch, 1, sizes.variates, sizes.context_steps()};
    constexpr Shape ahead{sizes.batch, 1, sizes.variates, sizes.steps, sizes.patch_size};
    constexpr Shape variates{sizes.batch, 1, sizes.variates, 1, 1};
    constexpr auto at = [](std::string_view name) { return Layout::place_of(name); };
    using enum DType;
    return check_state_at<Layout, state::request, StateForm{i32, {states::request_size}}, at(states::request)>() &&
           check_state_at<Layout, state::forecast,
                          StateForm{f32, {sizes.batch, sizes.values, sizes.variates, sizes.steps, sizes.patch_size}},
                          at(states::forecast)>() &&
           check_state_at<Layout, state::series, StateForm{f32, steps}, at(states::series)>() &&
           check_state_at<Layout, state::observed, StateForm{f32, steps}, at(states::observed)>() &&
           check_state_at<Layout, state::groups, StateForm{i32, {sizes.batch, sizes.variates, sizes.context_patches}},
                          at(states::groups)>() &&
           check_state_at<Layout, state::length, StateForm{i32, {sizes.batch}}, at(states::length)>() &&
           check_state_at<Layout, state::seed, StateForm{i32, {2}}, at(states::seed)>() &&
           check_state_at<Layout, state::first_draw, StateForm{i32, {2}}, at(states::first_draw)>() &&
           check_state_at<Layout, state::is_exogenous, StateForm{f32, variates}, at(states::is_exogenous)>() &&
           check_state_at<Layout, state::future, StateForm{f32, ahead}, at(states::future)>() &&
           check_state_at<Layout, state::future_observed, StateForm{f32, ahead}, at(states::future_observed)>() &&
           check_state_at<Layout, state::is_known, StateForm{f32, variates}, at(states::is_known)>();
}

}  // namespace totograph::forecast_detail
