// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

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

/// A state that `states.hpp` lists.
struct ListedState {
    std::string_view name;
    StateForm form;
};

/// All of them, in the order of the types below.
constexpr std::array<ListedState, 12> listed_states(const ForecastSizes& sizes) {
    const Shape steps{sizes.batch, 1, sizes.variates, sizes.context_steps()};
    const Shape ahead{sizes.batch, 1, sizes.variates, sizes.steps, sizes.patch_size};
    const Shape variates{sizes.batch, 1, sizes.variates, 1, 1};
    const Shape result{sizes.batch, sizes.values, sizes.variates, sizes.steps, sizes.patch_size};
    using enum DType;
    return {{{states::series, {f32, steps}},
             {states::observed, {f32, steps}},
             {states::groups, {i32, {sizes.batch, sizes.variates, sizes.context_patches}}},
             {states::length, {i32, {sizes.batch}}},
             {states::seed, {i32, {2}}},
             {states::first_draw, {i32, {2}}},
             {states::is_exogenous, {f32, variates}},
             {states::future, {f32, ahead}},
             {states::future_observed, {f32, ahead}},
             {states::is_known, {f32, variates}},
             {states::request, {i32, {states::request_size}}},
             {states::forecast, {f32, result}}}};
}

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

/// Checks all states, which are those of `listed_states` in this order.
template <class Layout, ForecastSizes sizes, class... States>
consteval bool check_each() {
    return []<std::size_t... i>(std::index_sequence<i...>) {
        constexpr auto listed = listed_states(sizes);
        static_assert(listed.size() == sizeof...(States));
        return (check_state_at<Layout, States, listed[i].form, Layout::place_of(listed[i].name)>() && ...);
    }
    (std::index_sequence_for<States...>());
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
    static_assert(!Layout::has(states::forecast) || Layout::is_stored(states::forecast),
                  "totograph: a program of a family stores its result into the state `forecast`; none of this family's "
                  "does, and forecasts would be zeros.");
    static_assert(!sizes.known_future || Layout::has(states::future),
                  "totograph: no program of this family reads a known future (the state `future`), so its buckets have "
                  "exogenous = 0; exogenous variates without a known future need none.");
    static_assert(!imputes || (Layout::has(states::series) && Layout::has(states::observed)),
                  "totograph: a family with an imputation has the inputs `series` and `observed`, by whose marks gaps "
                  "are filled.");
    return check_each<Layout, sizes, state::series, state::observed, state::groups, state::length, state::seed,
                      state::first_draw, state::is_exogenous, state::future, state::future_observed, state::is_known,
                      state::request, state::forecast>();
}

}  // namespace totograph::forecast_detail
