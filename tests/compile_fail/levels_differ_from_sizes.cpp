// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the sizes of a family are those of the bucket in whole patches, with a value a step for each
#include <totograph/forecast/forecast_plan.hpp>

#include "forecast/smallest_family.hpp"

using namespace totograph;

/// Three levels, of which the sizes have two.
template <class Model>
struct OneLevelShort : smallest_family::Family<Model> {
    static constexpr ForecastSizes sizes(const Bucket& bucket) { return {bucket, 1, 0, 2}; }
};

struct Config {
    template <class Model>
    using Family = OneLevelShort<Model>;

    bool is_partial = false;
};

struct Short {
    static constexpr Config config{};
};

constexpr Bucket bucket{.context = 4, .horizon = 2};

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
constexpr auto plan = forecast_plan<smallest_family::Model, bucket>();
#else
constexpr auto plan = forecast_plan<Short, bucket>();
#endif
