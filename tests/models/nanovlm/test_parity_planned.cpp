// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "models/nanovlm/parity.hpp"
#include "models/toto1/planned_forecast.hpp"

// Every case by its plan, one number at a time: what the fused executor would compile.

namespace {

namespace tg = totograph;

/// Plans with the interface of a forecaster.
template <class Case>
class Planned {
public:
    explicit Planned(const std::string& name)
        : plans_(tg::record_forecast<nanovlm_cases::Inspected<Case>, Case::bucket>(),
                 nanovlm_fixture::load<Case>(name).weights) {}

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
    void write_state(const std::string& name, const std::vector<float>& values) { plans_.write_state(name, values); }

private:
    tg::test::PlannedForecaster plans_;
};

template <class Case>
void check(const std::string& name) {
    Planned<Case> forecaster(name);
    nanovlm_fixture::Parity<Case, Planned<Case>>(forecaster, name).check_greedy();
}

}  // namespace

TEST_CASE("tokens_15_to_5: what is planned agrees with the reference") {
    check<nanovlm_cases::tokens_15_to_5>("tokens_15_to_5");
}
TEST_CASE("left_padded: what is planned agrees with the reference") {
    check<nanovlm_cases::left_padded>("left_padded");
}
TEST_CASE("image_rows_padded: what is planned agrees with the reference") {
    check<nanovlm_cases::image_rows_padded>("image_rows_padded");
}
TEST_CASE("rope_rescaled: what is planned agrees with the reference") {
    check<nanovlm_cases::rope_rescaled>("rope_rescaled");
}
TEST_CASE("multi_query: what is planned agrees with the reference") {
    check<nanovlm_cases::multi_query>("multi_query");
}
TEST_CASE("vision_and_language: what is planned agrees with the reference") {
    check<nanovlm_cases::vision_and_language>("vision_and_language");
}
