// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <totograph/core/cache_counts.hpp>
#include <totograph/diagnostics/stress/report_json.hpp>
#include <totograph/diagnostics/stress/report_markdown.hpp>
#include <totograph/diagnostics/stress/run.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/serve/build_identity.hpp>

#include "diagnostics/stress_fakes.hpp"
#include "io/support.hpp"

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

TEST_CASE("a quick run compares sizes once of which eager is slow, and says so") {
    Machine machine;
    machine.faults.slow = large;
    std::size_t all = 0;
    StressOptions options{.progress = [&](std::size_t done, std::size_t of) {
        CHECK(done == ++all);
        CHECK(of == (done < 3 ? 9 : 7));  // after the first of `large` it is known
    }};
    const StressReport report = run(machine, options);
    check_failed(report, {});
    CHECK(all == 7);
    CHECK(report.forecasts == 7);
    REQUIRE(report.cases.size() == 3);
    CHECK(report.cases[0].tested.count() == 3);
    CHECK(report.cases[1].tested.count() == 3);
    CHECK(report.cases[2].tested.count() == 1);
    CHECK(report.cases[2].baseline.median() == doctest::Approx(2));
    const std::string text = markdown_text(report);
    CHECK(has(text, "Requests of 2 x 3 x 95 -> 11, 23 samples were compared once, not 3 times, for eager took 2.00 s"));
    CHECK(has(text, " | pairs | "));
    CHECK(nlohmann::json::parse(json_text(report))["cases"][2]["iterations"] == 1);

    SUBCASE("what is wrong with them is found") {
        machine.faults.kernel = [](float value, Index, Index step, Index) {
            return step > 7 ? value + 0.003F : value;  // only `large` is asked for so many
        };
        options.progress = {};
        options.sizes = {report.cases[2].sizes};
        check_failed(run(machine, options), {"accuracy"});
    }
    SUBCASE("any number that is named, and any other level, makes them all") {
        for (const StressOptions& more : {StressOptions{.iterations = 2}, StressOptions{.level = StressLevel::full}}) {
            const StressReport whole = run(machine, more);
            for (const StressCase& one : whole.cases) {
                CHECK(one.tested.count() == (more.iterations > 0 ? 2 : 10));
            }
            CHECK(whole.notes.empty());
        }
    }
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
    SUBCASE("other bits when it is repeated, and seldom") {
        int forecasts = 0;
        machine.faults.on_forecast = [&] { ++forecasts; };
        machine.faults.kernel = [&](float value, Index, Index, Index) {
            return forecasts == 24 ? value + 1e-5F : value;  // the last one of all
        };
        check_failed(run(machine), {"repeats"});
    }
    SUBCASE("the same future of one size of requests") {
        // Two rounds are chance, three are not: each jump alone would be allowed.
        machine.faults.kernel = [&](float value, Index, Index, Index sample) {
            return sample == 20 ? value + 5 : value;  // no other size has as many samples, but the smallest
        };
        const StressReport report = run(machine, {.thresholds = {.jumps = 1}});
        check_failed(report, {"jumps"});
        CHECK(has(report.find("jumps")->found, "the same one of every forecast of 1 x 4 x 64"));
        check_failed(run(machine, {.iterations = 2, .thresholds = {.jumps = 1}}), {});
    }
    SUBCASE("all futures of one series") {
        machine.faults.series = 109.8F;
        machine.faults.kernel = [](float value, Index, Index, Index) { return value + 5; };
        // On average over all requests that would be allowed.
        const StressReport report =
            run(machine, {.iterations = 10, .sizes = {small}, .thresholds = {.jumps = 5e-3, .jumped_futures = 1}});
        check_failed(report, {"jumps"});
        CHECK(has(report.find("jumps")->found, "too many of one forecast"));
    }
    SUBCASE("a fifth of the futures, others each time, of so many values that chance would explain it") {
        int forecasts = 0;
        machine.faults.on_forecast = [&] { ++forecasts; };
        machine.faults.kernel = [&](float value, Index, Index, Index sample) {
            return (sample + 3 * ((forecasts + 1) / 2)) % 5 == 0 ? value + 5 : value;
        };
        const StressReport report = run(machine, {.iterations = 8, .sizes = {small}, .thresholds = {.jumps = 1}});
        check_failed(report, {"jumps"});
        CHECK(has(report.find("jumps")->found, "too many of 1 x 4 x 64"));
    }
    SUBCASE("farther off than a jump, where that is allowed") {
        machine.faults.kernel = [](float value, Index, Index, Index) { return value + 0.05F; };
        check_failed(run(machine, {.thresholds = {.mae = 0.1}}), {});
    }
    SUBCASE("medians that are off by more than they scatter") {
        machine.faults.kernel = [](float value, Index, Index, Index) { return value + 5; };
        check_failed(run(machine, {.thresholds = StressThresholds::bf16()}), {"accuracy"});
        machine.faults.kernel = [](float value, Index, Index, Index sample) {
            return sample % 16 == 0 ? value + 5 : value;
        };
        check_failed(run(machine, {.thresholds = StressThresholds::bf16()}), {});
    }
}

TEST_CASE("a future that draws another component once is no fault") {
    Machine machine;
    int forecasts = 0;
    machine.faults.on_forecast = [&] { ++forecasts; };
    // In the second round, and when it is repeated. All variates see the jump of one, and go another way.
    machine.faults.kernel = [&](float value, Index, Index, Index sample) {
        return (forecasts == 13 || forecasts == 14) && sample == 2 ? value + 5 : value;
    };
    const StressReport report = run(machine);
    check_failed(report, {});
    CHECK(report.cases[0].jumps.jumped() == 1);
    CHECK(report.cases[0].jumps.futures() == 3 * 32);
    CHECK(report.cases[0].jumps.draws() == 3 * 4 * 16 * 32);
    CHECK(report.deviation().jumps == 4);
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
        const StressReport report = run(machine);
        check_failed(report, {"growth"});
        CAPTURE(report.find("growth")->found);
        CHECK(has(report.find("growth")->found, "the process by 36.0 MiB (2.00 MiB a forecast)"));
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

TEST_CASE("a mode that is slower than the planned program without it") {
    Machine machine;
    machine.faults.planned = std::chrono::milliseconds(2);
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    const auto stressed = [&](Mode mode, const StressThresholds& thresholds = {}) {
        ForecastService tested(registry, {.mode = mode});
        ForecastService baseline(registry, {.mode = Mode::eager});
        ForecastService planned(registry, {.mode = Mode::standard});
        return stress(tested, baseline, {.thresholds = thresholds, .probes = machine.probes()}, {waves()}, &planned);
    };
    const StressReport sound = stressed(Mode::max_autotune);
    check_failed(sound, {});
    CHECK(sound.cases[0].ratios.median() == doctest::Approx(0.5));
    CHECK(sound.cases[0].planned.median() == doctest::Approx(2e-3));
    CHECK(sound.cases[0].baseline.median() == doctest::Approx(10e-3));
    CHECK(has(sound.find("speed")->found, "0.5 of the latency in mode default"));
    CHECK(has(markdown_text(sound), " 2x (2 to 2) "));
    CHECK(nlohmann::json::parse(json_text(sound))["planned"]["mode"] == "default");

    // A third of eager's latency, and still no use.
    machine.faults.latency = std::chrono::milliseconds(3);
    check_failed(stressed(Mode::max_autotune), {"speed"});
    check_failed(stressed(Mode::max_autotune, {.slowest = 1.6}), {});
    const StressReport itself = stressed(Mode::standard);
    check_failed(itself, {});
    CHECK(has(itself.find("speed")->found, "is the planned program itself"));
    CHECK(has(run(machine).find("speed")->found, "is the planned program itself"));

    // Slow once, as on a machine that does something else for a moment.
    machine.faults.latency = std::chrono::milliseconds(2);
    int forecasts = 0;
    machine.faults.on_forecast = [&] { machine.now += std::chrono::milliseconds(++forecasts == 19 ? 500 : 0); };
    const StressReport busy = stressed(Mode::max_autotune);
    check_failed(busy, {});
    CHECK(busy.cases[0].ratios.count() == 3);
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
    CHECK(has(report.find("requests")->found, "1 error; the first: The device is gone."));

    machine.faults = {};
    const std::vector<StressData> twice{waves(), waves()};
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    ForecastService service(registry, {.mode = Mode::standard});
    CHECK_THROWS_AS(stress(service, service, {}, twice), totograph::Error);
    const StressReport none = run(machine, {.sizes = {{.context = 5000, .horizon = 16, .samples = 32}}});
    check_failed(none, {"requests"});
    REQUIRE(none.notes.size() == 1);
    CHECK(has(none.notes[0], "waves has 400 rows"));
    CHECK(has(run(machine, {.sizes = {{.context = 64, .horizon = 16, .samples = 64}}}).notes.at(0),
              "nothing compiled for 'fake'"));
}

TEST_CASE("a service may be its own baseline") {
    Machine machine;
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    ForecastService service(registry, {.mode = Mode::standard});
    const StressReport report = stress(service, service, {.probes = machine.probes()}, {waves()});
    check_failed(report, {});
    CHECK(report.cases[0].baseline.median() == doctest::Approx(10e-3));
}

TEST_CASE("requests are planned for the buckets that are named, and no longer than the data") {
    Machine machine;
    StressData data = waves();
    for (auto& column : data.table.columns) {
        column.resize(40);
    }
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    ForecastService tested(registry, {.mode = Mode::standard});
    const StressReport report = stress(tested, tested, {.buckets = {large}, .probes = machine.probes()}, {data});
    check_failed(report, {});
    REQUIRE(report.cases.size() == 2);
    CHECK(report.cases[0].sizes == Bucket{.batch = 2, .variates = 4, .context = 40, .horizon = 16, .samples = 32});
    // A smaller bucket may serve what was planned for another: what serves it is warmed up.
    CHECK(report.cases[1].sizes == Bucket{.variates = 2, .context = 19, .horizon = 7, .samples = 15});
    CHECK(report.warm_up.rows.size() == 2);
}

TEST_CASE("series that no request had are told") {
    Machine machine;
    const StressReport report =
        run(machine, {.iterations = 1, .sizes = {{.variates = 2, .context = 20, .horizon = 4, .samples = 8}}});
    REQUIRE(report.notes.size() == 1);
    CHECK(has(report.notes[0], "3 of the 5 series of waves were in no request"));
    CHECK(run(machine, {.iterations = 3, .sizes = {{.variates = 2, .context = 20, .horizon = 4, .samples = 8}}})
              .variates.size() >= 4);
}

TEST_CASE("a route with a mode of its own is stressed in it") {
    Machine machine;
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    registry.add(std::make_shared<FakeBackend>(machine, std::vector<Bucket>{small, large}, "other",
                                               std::vector<Mode>{Mode::eager, Mode::max_autotune}));
    ForecastService tested(registry, {.backend = "other",
                                      .mode = Mode::max_autotune,
                                      .routes = {{.max_batch = 1, .backend = "fake", .mode = Mode::standard}}});
    ForecastService baseline(registry, {.backend = "fake", .mode = Mode::eager});
    const StressReport report = stress(tested, baseline, {.probes = machine.probes()}, {waves()});
    check_failed(report, {});
    CHECK(report.cases.size() == 3);
    CHECK(report.notes.empty());
}

TEST_CASE("a request goes to the bucket of the backend that its route leads to") {
    // `other` has a smaller bucket that would hold it, but requests of one series do not go there.
    Machine machine;
    constexpr Bucket least{.variates = 2, .context = 32, .horizon = 8, .samples = 16};
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    registry.add(std::make_shared<FakeBackend>(machine, std::vector<Bucket>{least, large}, "other"));
    ForecastService tested(registry, {.backend = "other",
                                      .mode = Mode::max_autotune,
                                      .routes = {{.max_batch = 1, .backend = "fake", .mode = Mode::standard}}});
    const Bucket request{.variates = 2, .context = 30, .horizon = 4, .samples = 8};
    CHECK(tested.bucket_of(request) == small);
    CHECK(tested.backend_of(1) == "fake");
    CHECK(tested.mode_of(1) == Mode::standard);
    CHECK(tested.backend_of(2) == "other");
    CHECK(tested.mode_of(2) == Mode::max_autotune);
    CHECK(tested.bucket_of({.batch = 2, .variates = 2, .context = 30, .horizon = 4, .samples = 8}) == large);
    CHECK_FALSE(tested.bucket_of({.batch = 3, .context = 30, .horizon = 4, .samples = 8}));
    CHECK_FALSE(tested.bucket_of({.context = 30, .horizon = 4}));
    const StressReport report = stress(tested, tested, {.sizes = {request}, .probes = machine.probes()}, {waves()});
    CHECK(report.passed());
    REQUIRE(report.warm_up.rows.size() == 1);
    CHECK(report.warm_up.rows[0].backend == "fake");
    CHECK(report.warm_up.rows[0].bucket == small);
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
    CHECK(document["cases"][0]["first_seconds"] == doctest::Approx(1e-3));
    CHECK(document["planned"].is_null());
    CHECK(document["cases"][0]["futures"]["futures"] == 3 * 32);
    CHECK(document["warm_up"].size() == 2);
    CHECK(document["caches"].is_array());

    const std::string text = markdown_text(report);
    CHECK(has(text, "# Stress report: FAILED"));
    CHECK(has(text, "| accuracy   | FAILED |"));
    CHECK(has(text, "| 1 x 4 x 64 -> 16, 32 samples |"));
}

TEST_CASE("reports hold whatever a name holds") {
    Machine machine;
    BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    ForecastService service(registry, {.mode = Mode::standard});
    StressData data = waves();
    data.table.names[0] = "a|\"\\\r\n\t\x01 \xC3\xA9 \xFF";
    const StressReport report = stress(service, service, {.iterations = 1, .probes = machine.probes()}, {data});
    const auto document = nlohmann::json::parse(json_text(report));
    CHECK(document["variates"][0]["name"] == "a|\"\\\r\n\t\x01 \xC3\xA9 \uFFFD");
    CHECK(has(markdown_text(report), "| a\\|\"\\\\x0d\\x0a\\x09\\x01 \xC3\xA9 \\xff "));
}
