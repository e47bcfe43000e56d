// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <totograph/core/cache_counts.hpp>
#include <totograph/io/cache_file.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/stress/report_json.hpp>
#include <totograph/serve/stress/report_markdown.hpp>
#include <totograph/serve/stress/run.hpp>

#include "io/support.hpp"
#include "serve/stress_fakes.hpp"

// Each failure that a stress run looks for, planted in a backend without a model. The clock is the backend's as well,
// so that nothing here depends on how fast the machine is.

using namespace stress_fakes;
using namespace totograph::serve;

namespace {

/// That a run fails for these reasons and no others.
void check_failed(const StressReport& report, std::initializer_list<std::string_view> names) {
    CHECK(report.passed() == (names.size() == 0));
    for (const StressCheck& check : report.checks) {
        bool is_expected = false;
        for (const std::string_view name : names) {
            is_expected = is_expected || check.name == name;
        }
        CAPTURE(check.name);
        CAPTURE(check.found);
        CHECK(check.passed == !is_expected);
    }
    for (const std::string_view name : names) {
        CHECK(report.find(name) != nullptr);
    }
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a sound mode passes, and the report tells what was run") {
    Machine machine;
    std::size_t last = 0;
    std::size_t all = 0;
    const StressReport report =
        run(machine, {.build = build_identity(), .progress = [&](std::size_t done, std::size_t of) {
                          CHECK(done == last + 1);
                          last = done;
                          all = of;
                      }});
    check_failed(report, {});
    REQUIRE(report.cases.size() == 3);
    CHECK(report.cases[0].sizes == small);
    CHECK(report.cases[1].sizes == Bucket{.variates = 2, .context = 31, .horizon = 7, .samples = 15});
    // Half of `large` would fit `small`.
    CHECK(report.cases[2].sizes == Bucket{.batch = 2, .variates = 3, .context = 95, .horizon = 11, .samples = 23});
    CHECK(report.forecasts == 9);
    CHECK(last == 9);
    CHECK(all == 9);
    for (const StressCase& one : report.cases) {
        CHECK(one.tested.count() == 3);  // not the first call
        CHECK(one.tested.median() == doctest::Approx(1e-3));
        CHECK(one.baseline.median() == doctest::Approx(10e-3));
        CHECK(one.deviation.is_bitwise_equal);
    }
    CHECK(report.variates.size() >= 4);
    CHECK(report.warm_up.rows.size() == 2);
    CHECK(report.memory.planned == 2'000'000);
    CHECK(report.memory.held == 2'000'000);
    CHECK(report.build.compiler == build_identity().compiler);

    CHECK(run(machine, {.level = StressLevel::full, .iterations = 1}).cases.size() > 8);
}

TEST_CASE("a wrong kernel") {
    Machine machine;
    SUBCASE("all values a little off") {
        machine.faults.kernel = [](float value, Index, Index, Index) { return value + 0.003F; };
        check_failed(run(machine), {"accuracy"});
    }
    SUBCASE("as far off as is allowed") {
        machine.faults.kernel = [](float value, Index, Index, Index) { return value + 0.0003F; };
        check_failed(run(machine), {});
    }
    SUBCASE("one variate alone") {
        machine.faults.kernel = [](float value, Index variate, Index, Index) {
            return variate == 1 ? value + 0.005F : value;
        };
        const StressReport report = run(machine);
        check_failed(report, {"accuracy"});
    }
    SUBCASE("far off: no future is the same") {
        machine.faults.kernel = [](float value, Index, Index, Index) { return value + 5; };
        check_failed(run(machine), {"jumps"});
    }
    SUBCASE("one future of each forecast, as at the end of a tile") {
        machine.faults.kernel = [](float value, Index, Index, Index sample) {
            return sample == 14 ? value + 5 : value;
        };
        check_failed(run(machine), {"jumps"});
    }
    SUBCASE("one step is NaN") {
        machine.faults.kernel = [](float value, Index variate, Index step, Index sample) {
            return variate == 0 && step == 6 && sample == 0 ? std::numeric_limits<float>::quiet_NaN() : value;
        };
        check_failed(run(machine), {"finite"});
    }
    SUBCASE("other bits when it is repeated") {
        machine.faults.kernel = [&](float value, Index, Index, Index) {
            return value + 1e-6F * static_cast<float>(machine.forecasts % 100);
        };
        check_failed(run(machine), {"repeats"});
    }
}

TEST_CASE("a future that draws another component once is no fault") {
    Machine machine;
    int forecasts = 0;
    machine.faults.on_forecast = [&] { ++forecasts; };
    machine.faults.kernel = [&](float value, Index variate, Index, Index sample) {
        return forecasts == 14 && variate == 0 && sample == 2 ? value + 5 : value;  // in the second round
    };
    const StressReport report = run(machine);
    check_failed(report, {});
    CHECK(report.deviation().jumps == 1);
    CHECK(report.deviation().worst_mae == 0);
    CHECK(report.deviation().largest == 0);
}

TEST_CASE("a recapture after warm-up") {
    Machine machine;
    ForecastService* service = nullptr;
    const StressReport report = run(machine,
                                    {.progress =
                                         [&](std::size_t done, std::size_t) {
                                             if (done == 4) {
                                                 service->release(small);
                                             }
                                         }},
                                    [&](ForecastService& tested) { service = &tested; });
    check_failed(report, {"recaptures"});
    CHECK(has(report.find("recaptures")->found, "1 after warm-up: 1 released"));

    // A stance of the caller's neither hides it nor ends the run.
    const ScopedStance stance(Stance::fail_on_recapture);
    const StressReport again = run(machine, {}, [](ForecastService& tested) {
        tested.warm_up({.buckets = {small}});  // ready, and not for `large`
    });
    check_failed(again, {"recaptures"});
    CHECK(again.recaptures[static_cast<std::size_t>(RecaptureReason::not_warmed_up)] == 1);
}

TEST_CASE("a leak") {
    Machine machine;
    SUBCASE("that the service knows of") {
        machine.faults.leak = 8;
        check_failed(run(machine), {"growth"});
    }
    SUBCASE("that only the process shows") {
        machine.faults.on_forecast = [&] { machine.process += std::size_t{2} << 20U; };
        check_failed(run(machine), {"growth"});
    }
    SUBCASE("on the device") {
        machine.faults.on_forecast = [&] { machine.device += std::size_t{2} << 20U; };
        StressProbes probes = machine.probes();
        probes.device_memory = [&] { return machine.device; };
        check_failed(run(machine, {.probes = probes}), {"growth"});
    }
    SUBCASE("less than a process grows anyway") {
        machine.faults.on_forecast = [&] { machine.process += 4096; };
        check_failed(run(machine), {});
    }
}

TEST_CASE("more memory than planned") {
    Machine machine;
    machine.faults.more_memory = 200'000;
    check_failed(run(machine), {"memory"});
}

TEST_CASE("a mode that is slower than eager") {
    Machine machine;
    machine.faults.latency = std::chrono::milliseconds(11);
    check_failed(run(machine), {"speed"});
    check_failed(run(machine, {.thresholds = {.slowest = 1.2}}), {});

    // Slow once, as on a machine that does something else for a moment.
    machine.faults.latency = std::chrono::milliseconds(1);
    int forecasts = 0;
    machine.faults.on_forecast = [&] { machine.now += std::chrono::milliseconds(++forecasts == 12 ? 500 : 0); };
    check_failed(run(machine), {});
}

TEST_CASE("a corrupt cache file") {
    const totograph::test::ScratchFolder folder;
    totograph::io::CacheRecords records{{"key", "value"}};
    std::string bytes = totograph::io::cache_bytes("device", records);
    const auto path = folder.file("tuning.cache", bytes);
    Machine machine;
    machine.faults.on_make = [&] {
        const auto content = totograph::io::read_cache_file(path, "device");
        auto& counter = totograph::cache_counts().of("tuning");
        if (!content.ignored.empty()) {
            counter.add_ignored(content.ignored);
            counter.add_misses();
        } else {
            counter.add_hits();
        }
    };
    const StressReport sound = run(machine);
    check_failed(sound, {});
    CHECK(has(sound.find("caches")->found, "2 hits"));

    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    folder.file("tuning.cache", bytes);
    const StressReport corrupt = run(machine);
    check_failed(corrupt, {"caches"});
    CHECK(has(corrupt.find("caches")->found, "checksum"));
}

TEST_CASE("requests that fail, and requests that cannot be") {
    Machine machine;
    int forecasts = 0;
    machine.faults.on_forecast = [&] {
        if (++forecasts == 12) {
            throw totograph::Error(totograph::ErrorCode::device_failure, "The device is gone.");
        }
    };
    const StressReport report = run(machine);
    check_failed(report, {"requests"});
    CHECK(has(report.find("requests")->found, "1 errors; the first: The device is gone."));

    machine.faults = {};
    const StressReport none = run(machine, {.sizes = {{.context = 5000, .horizon = 16, .samples = 32}}});
    check_failed(none, {"requests"});
    REQUIRE(none.notes.size() == 1);
    CHECK(has(none.notes[0], "waves has 400 rows"));
    CHECK(has(run(machine, {.sizes = {{.context = 64, .horizon = 16, .samples = 64}}}).notes.at(0),
              "no bucket of 'fake'"));
}

TEST_CASE("the baseline is eager whatever the environment says") {
    Machine machine;
    machine.faults.kernel = [](float value, Index, Index, Index) { return value + 0.003F; };
    // As TOTOGRAPH_MODE=default would make it: were the baseline not forced, it would be as wrong as what is tested.
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    ForecastService tested(registry, {.mode = Mode::standard});
    ForecastService baseline(registry, {.mode = Mode::standard});
    check_failed(stress(tested, baseline, {.probes = machine.probes()}, {waves()}), {"accuracy"});
}

TEST_CASE("reports as files") {
    Machine machine;
    machine.faults.kernel = [](float value, Index, Index, Index) { return value + 0.003F; };
    const StressReport report = run(machine);
    const auto document = nlohmann::json::parse(json_text(report));
    CHECK(document["passed"] == false);
    CHECK(document["checks"].size() == report.checks.size());
    CHECK(document["cases"][0]["sizes"]["context"] == 64);
    CHECK(document["cases"][0]["latency"]["p50_seconds"] == doctest::Approx(1e-3));
    CHECK(document["cases"][0]["deviation"]["mae"] == doctest::Approx(report.cases[0].deviation.mae()));
    CHECK(document["variates"].size() == report.variates.size());
    CHECK(document["warm_up"].size() == 2);

    const std::string text = markdown_text(report);
    CHECK(has(text, "# Stress report: FAILED"));
    CHECK(has(text, "| accuracy   | FAILED |"));
    CHECK(has(text, "| 1 x 4 x 64 -> 16, 32 samples |"));
}
