// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the levels of a family are ascending, between 0 and 1 and around 0.5, and take the place
#include <array>

#include <totograph/forecast/forecast_plan.hpp>

#include "forecast/smallest_family.hpp"

using namespace totograph;

/// Levels in another order.
template <class Model>
struct Descending : smallest_family::Family<Model> {
    static constexpr std::array<double, 3> levels{0.9, 0.5, 0.1};
    static constexpr ResultKind results{.levels = levels};
};

struct Config {
    template <class Model>
    using Family = Descending<Model>;

    bool is_partial = false;
};

struct Broken {
    static constexpr Config config{};
};

constexpr Bucket bucket{.context = 4, .horizon = 2};

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr auto plan = forecast_plan<smallest_family::Model, bucket>();
#else
constexpr auto plan = forecast_plan<Broken, bucket>();
#endif
