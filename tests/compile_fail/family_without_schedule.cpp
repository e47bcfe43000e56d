// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a family needs `template <Bucket> struct Schedule` with `Models`, `names`,
#include <totograph/forecast/family.hpp>

#include "forecast/smallest_family.hpp"

using namespace totograph;

/// A family that says everything but what runs.
template <class Model>
struct WithoutSchedule : smallest_family::Family<Model> {
private:
    template <Bucket bucket>
    struct Schedule {};
};

struct Config {
    template <class Model>
    using Family = WithoutSchedule<Model>;
};

struct Broken {
    static constexpr Config config{};
};

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
static_assert(check_family<smallest_family::Model>());
#else
static_assert(check_family<Broken>());
#endif
