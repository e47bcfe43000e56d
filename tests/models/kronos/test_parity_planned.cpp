// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

#include "models/kronos/cases.hpp"
#include "models/kronos/fixture.hpp"
#include "models/kronos/parity.hpp"
#include "models/toto1/planned_forecast.hpp"

// The cases that the fused executor is not compiled for, by their plan: what it would compile.

namespace {

namespace tg = totograph;

/// Plans with the interface of a forecaster.
template <class Case>
class Planned {
public:
    explicit Planned(const std::string& name)
        : plans_(tg::record_forecast<kronos_cases::Inspected<Case>, Case::bucket>(),
                 kronos_fixture::load<Case>(name).weights) {}

    void fill(const tg::Series& series, const tg::Bucket& /*request*/, std::uint64_t seed) {
        plans_.fill(series, seed);
    }
    template <std::size_t program>
    void run() {
        plans_.run(program);
    }
    template <class T>
    [[nodiscard]] std::vector<T> read_state(const std::string& name, int layer = -1) const {
        const std::vector<float> values = plans_.read_state(name, layer);
        return {values.begin(), values.end()};
    }
    template <class T>
    void write_state(const std::string& name, const std::vector<T>& values) {
        plans_.write_state(name, std::vector<float>(values.begin(), values.end()));
    }

private:
    tg::test::PlannedForecaster plans_;
};

template <class Case>
void check(const std::string& name) {
    Planned<Case> forecaster(name);
    kronos_fixture::Parity<Case, Planned<Case>> parity(forecaster, name);
    parity.check_greedy();
    parity.check_drawn();
}

}  // namespace

TEST_CASE("no_volume: what is planned agrees with the reference") {
    check<kronos_cases::no_volume>("no_volume");
}
TEST_CASE("no_amount_clipped: what is planned agrees with the reference") {
    check<kronos_cases::no_amount_clipped>("no_amount_clipped");
}
TEST_CASE("unequal_bits: what is planned agrees with the reference") {
    check<kronos_cases::unequal_bits>("unequal_bits");
}
