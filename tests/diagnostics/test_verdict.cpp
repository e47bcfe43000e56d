// SPDX-License-Identifier: Apache-2.0
// The checks of a stress run, each at its limit and beyond it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/diagnostics/stress/verdict.hpp>
#include <totograph/serve/mode.hpp>

using namespace totograph::serve;

namespace {

/// A run without anything to complain about.
StressReport good() {
    StressReport report;
    report.forecasts = 1;
    report.cases.emplace_back();
    return report;
}

bool passes(const StressReport& report, std::string_view name) {
    const std::vector<StressCheck> checks = judge(report);
    const auto found =
        std::find_if(checks.begin(), checks.end(), [&](const auto& check) { return check.name == name; });
    REQUIRE(found != checks.end());
    return found->passed;
}

}  // namespace

TEST_CASE("a run without fault passes all checks") {
    for (const StressCheck& check : judge(good())) {
        CAPTURE(check.name);
        CHECK(check.passed);
    }
}

TEST_CASE("a run needs a pair of forecasts, and no error") {
    StressReport report = good();
    report.forecasts = 0;
    CHECK_FALSE(passes(report, "requests"));
    report = good();
    report.failures = 1;
    CHECK_FALSE(passes(report, "requests"));
}

TEST_CASE("values that are not finite, requests that do not repeat, recaptures and ignored files are counted") {
    StressReport report = good();
    report.cases.front().deviation.not_finite = 1;
    CHECK_FALSE(passes(report, "finite"));
    report = good();
    report.cases.front().repeats = false;
    CHECK_FALSE(passes(report, "repeats"));

    report = good();
    report.recaptures = {1};
    CHECK_FALSE(passes(report, "recaptures"));
    report.thresholds.recaptures = 1;
    CHECK(passes(report, "recaptures"));
    report.recaptures = {1, 1};
    CHECK_FALSE(passes(report, "recaptures"));

    report = good();
    report.caches.emplace_back();
    report.caches.front().ignored = 1;
    CHECK_FALSE(passes(report, "caches"));
    report.thresholds.ignored_caches = 1;
    CHECK(passes(report, "caches"));
}

TEST_CASE("forecasters may take what is planned and a twentieth, and a slack for each") {
    StressReport report = good();
    report.memory = {.planned = 1'000'000, .held = 1'050'000 + 2 * 65536, .built = 2};
    CHECK(passes(report, "memory"));
    ++report.memory.held;
    CHECK_FALSE(passes(report, "memory"));
    report.memory.built = 0;  // nothing was compared
    CHECK(passes(report, "memory"));
}

TEST_CASE("the service may not grow, the process and the device by so much") {
    StressReport report = good();
    report.memory = {.held_after = 100, .held_before = 100};
    CHECK(passes(report, "growth"));
    report.memory.held_after = 101;
    CHECK_FALSE(passes(report, "growth"));
    report.memory.held_after = 0;
    const std::size_t most = report.thresholds.growth;
    for (const auto& [before, after] : {std::pair{&StressMemory::process_before, &StressMemory::process_after},
                                        {&StressMemory::device_before, &StressMemory::device_after}}) {
        report.memory.*before = 7;
        report.memory.*after = 7 + most;
        CHECK(passes(report, "growth"));
        report.memory.*after = 8 + most;
        CHECK_FALSE(passes(report, "growth"));
        report.memory.*before = 0;  // not known
        CHECK(passes(report, "growth"));
    }
}

TEST_CASE("the lower quartile of latencies is compared with the planned program") {
    StressReport report = good();
    report.backend = "near";
    report.baseline_backend = "near";
    report.planned_backend = "near";
    report.mode = Mode::max_autotune;
    report.planned_mode = Mode::standard;
    for (const double ratio : {1.1, 1.1, 5.0, 5.0, 5.0}) {
        report.cases.front().ratios.add(ratio);
    }
    CHECK(passes(report, "speed"));
    for (int i = 0; i < 20; ++i) {
        report.cases.front().ratios.add(1.2);
    }
    CHECK_FALSE(passes(report, "speed"));
    report.mode = Mode::standard;  // which is the planned program itself
    CHECK(passes(report, "speed"));
}

TEST_CASE("deviations hold at their limits and not beyond") {
    constexpr StressThresholds thresholds{.mae = 1, .worst = 5, .worst_step = 20};
    const auto holds = [&](Deviation deviation) {
        deviation.values = 2;
        return deviation.is_within(thresholds);
    };
    CHECK(holds({.absolute_sum = 2}));
    CHECK_FALSE(holds({.absolute_sum = 2.1}));
    CHECK(holds({.absolute_sum = 6, .scatter_sum = 2}));  // twice what medians scatter by anyway
    CHECK_FALSE(holds({.absolute_sum = 6.1, .scatter_sum = 2}));
    CHECK(holds({.worst_mae = 5, .worst_step = 20}));
    CHECK_FALSE(holds({.worst_mae = 5.1}));
    CHECK_FALSE(holds({.worst_step = 20.1}));
    CHECK_FALSE(holds({.not_finite = 1}));
}

TEST_CASE("a step of medians deviates beyond eight times what it scatters by") {
    const std::array<float, 3> found{10, 20, 30};
    const std::array<float, 3> expected{10, 20, 40};
    const std::array<float, 3> scatter{1, 1, 1};
    CHECK(detail::worst_step(found, expected, {}, 2) == 5);
    CHECK(detail::worst_step(found, expected, scatter, 2) == 1);
}

TEST_CASE("a future jumped that is off on average, or once by far") {
    // Two futures of four steps; the scale is 1.
    const std::vector<float> expected(8, 0);
    const auto jumps_of = [&](std::initializer_list<float> first) {
        std::vector<float> found(8, 0);
        for (std::size_t step = 0; step < 4; ++step) {
            found[2 * step] = first.begin()[step];
        }
        std::array<std::uint8_t, 2> jumped{};
        const Deviation deviation = detail::compare_variate(found, expected, 1, 1, jumped);
        CHECK(deviation.futures == 2);
        CHECK(deviation.jumps == jumped[0]);
        CHECK(deviation.values == (jumped[0] != 0 ? 4 : 8));  // what jumped is left out
        return deviation.jumps;
    };
    CHECK(jumps_of({1, -1, 1, -1}) == 0);
    CHECK(jumps_of({1, -1, 1, -1.5F}) == 1);
    CHECK(jumps_of({4, 0, 0, 0}) == 0);
    CHECK(jumps_of({4.5F, 0, 0, 0}) == 1);
}
