// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/for_each_program.hpp>
#include <totograph/graph/program.hpp>

namespace totograph {

namespace forecast_detail {

template <class Models, Passes passes>
struct PlannedPrograms;

template <class... Models, Passes passes>
struct PlannedPrograms<ModelList<Models...>, passes> {
    static constexpr std::size_t count = sizeof...(Models);
    static_assert(count > 0, "totograph: a schedule needs at least one program.");

    /// One of the programs.
    template <std::size_t which>
    using At = std::tuple_element_t<which, std::tuple<Program<Models, passes>...>>;
    /// All programs as arguments of a template.
    template <template <class...> class To>
    using In = To<Program<Models, passes>...>;

    /// Calls `visit.template operator()<which>()` for each program, in order.
    template <class Visit>
    static constexpr void for_each(const Visit& visit) {
        for_each_program<count>(visit);
    }
};

}  // namespace forecast_detail

/// The programs of a model for a bucket, in the order in which they run.
template <class Model, Bucket bucket, Passes passes = Passes{}>
using SchedulePrograms =
    forecast_detail::PlannedPrograms<typename FamilyOf<Model>::template Schedule<bucket>::Models, passes>;

/// Whether the programs run one by one, whenever somebody asks for one of them (`run_on` of a runner), and not in their
/// order for each forecast: a schedule that has a `runs_apart` of true.
template <class Model, Bucket bucket>
inline constexpr bool runs_apart = [] {
    using Schedule = typename FamilyOf<Model>::template Schedule<bucket>;
    if constexpr (requires { Schedule::runs_apart; }) {
        return bool{Schedule::runs_apart};
    } else {
        return false;
    }
}();

}  // namespace totograph
