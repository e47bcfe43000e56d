// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <totograph/core/log.hpp>
#include <totograph/exec/cpu/thread_pools.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/serve/backends/cpu_backend.hpp>
#include <totograph/serve/service.hpp>

#include "io/support.hpp"
#include "models/toto1/modes.hpp"

// The CPU executors behind the interface of a service: all modes of a small model against its forecasters.

using namespace modes;
namespace serve = totograph::serve;
using serve::Mode;
using tg::ErrorCode;
using tg::test::check_error;

namespace {

/// What these tests measure is kept for no program of the one who runs them.
[[maybe_unused]] const bool has_no_cache = ::setenv("TOTOGRAPH_CACHE_DIR", "", 1) == 0;

/// A bucket of one sampled forecast, and another backend: bf16 weights, no cache, the mean.
constexpr tg::Bucket bucket = sampled_bucket;
constexpr tg::ForecasterOptions plain{.weights = tg::DType::bf16};
using Recomputed = tg::toto1::WithRewrites<Model, tg::toto1::Rewrites{.kv_cache = false}>;
using Fused = tg::Forecaster<Model, bucket>;
using Plain = tg::Forecaster<Recomputed, mean_bucket, plain>;

const serve::BackendRegistry& backends() {
    static const serve::BackendRegistry registry = [] {
        serve::BackendRegistry all;
        serve::add_cpu_backend<Model, bucket>(all, weights());
        serve::add_cpu_backend<Recomputed, plain, mean_bucket>(all, weights(), "plain");
        return all;
    }();
    return registry;
}

const serve::Backend& cpu() {
    static const auto backend = backends().get("cpu");
    return *backend;
}

/// Gaps, groups, and less of everything than the bucket holds.
Request request() {
    Request made = waves(2, 2, 37);
    make_gaps(made);
    make_groups(made, 2);
    return made;
}

constexpr tg::ForecastOptions options{.seed = 11, .horizon = 19, .samples = 5};

tg::OwnedForecast fused_forecast() {
    Fused forecaster(weights(), {.threads = 1});
    return forecaster.forecast(request().series(), options).keep();
}

/// What `tests/models/toto1/test_executors.cpp` compares with the eager executor.
tg::OwnedForecast eager_forecast() {
    tg::EagerForecaster forecaster(weights().weights, tg::record_forecast<Model, bucket>());
    return forecaster.forecast(request().series(), options).keep();
}

std::vector<float> values_of(const tg::Forecast& forecast) {
    return {forecast.samples().begin(), forecast.samples().end()};
}

/// The threads of this process.
std::ptrdiff_t threads_now() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// What is logged about some topics while `action` runs.
template <class Action>
std::vector<std::string> logged(std::string_view topics, Action action) {
    std::vector<std::string> lines;
    tg::set_log_sink([&](tg::LogTopic, std::string_view line) { lines.emplace_back(line); });
    tg::set_logs(topics);
    action();
    tg::set_logs("");
    tg::set_log_sink({});
    return lines;
}

bool holds(const std::vector<std::string>& lines, std::string_view part) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("every fused mode gives a forecaster's samples to the bit, eager those of an eager one") {
    const Request asked = request();
    const auto fused = fused_forecast();
    const auto eager = eager_forecast();
    for (const Mode mode : serve::all_modes) {
        const std::string text(serve::name(mode));
        CAPTURE(text);
        CHECK_FALSE(cpu().describe(mode).empty());
        const auto forecaster = cpu().make(bucket, mode, {.threads = 2});
        CHECK(forecaster->captures() == 0);
        const tg::Forecast found = forecaster->forecast(asked.series(), options);
        CHECK(different_bits(mode == Mode::eager ? eager : fused, found) == 0);
        check_same("samples", values_of(found), values_of(fused.view()), 4);
    }
}

TEST_CASE("a service of it forecasts as a forecaster does") {
    serve::ForecastService service(backends(), {.resources = {.threads = 2}});
    CHECK(service.backend() == "cpu");
    const serve::WarmUpReport report = service.warm_up({.include_eager = true});
    REQUIRE(report.rows.size() == 2);
    CHECK(report.rows[0].bytes + report.rows[1].bytes == service.memory_bytes());
    const Request asked = request();
    CHECK(different_bits(fused_forecast(), service.forecast(asked.series(), options)) == 0);
    const serve::ScopedStance stance(serve::Stance::force_eager);
    CHECK(different_bits(eager_forecast(), service.forecast(asked.series(), options)) == 0);
}

TEST_CASE("options reach the forecasters") {
    const auto backend = backends().get("plain");
    const auto forecaster = backend->make(mean_bucket, Mode::standard, {.threads = 1});
    const Request asked = request();
    Plain alone(weights(), {.threads = 1});
    const auto expected = alone.forecast(asked.series(), {.horizon = 19}).keep();
    CHECK(different_bits(expected, forecaster->forecast(asked.series(), {.horizon = 19})) == 0);

    // Eager has weights in f32, and no cache either: what the bf16 weights round is all that differs.
    const auto eager = backend->make(mean_bucket, Mode::eager, {});
    const tg::Forecast found = eager->forecast(asked.series(), {.horizon = 19});
    fixture::check_close("mean", found.mean(), expected.view().mean(), 0.05);
    CHECK(different_bits(expected, found) > 0);
    const serve::Explanation explanation = backend->explain(mean_bucket, Mode::standard);
    CHECK(explanation.programs[0].name == "begin");
    CHECK(explanation.programs[1].name == "recompute");
    CHECK(explanation.programs[1].runs == Plain::sizes.steps);
    CHECK(explanation.cache_bytes == 0);
    CHECK(explanation.shared_weight_bytes == Plain::weight_bytes);
    CHECK(backend->explain(mean_bucket, Mode::eager).programs[1].runs == Plain::sizes.steps);
}

TEST_CASE("an explanation has the constants of the forecaster") {
    const serve::Explanation explanation = cpu().explain(bucket, Mode::standard);
    CHECK(explanation.backend == "cpu");
    CHECK(explanation.mode == "default");
    CHECK(explanation.bucket == bucket);
    CHECK(explanation.graph_launches == 0);
    CHECK(explanation.shared_weight_bytes == Fused::weight_bytes);
    CHECK(explanation.own_weight_bytes == 0);
    CHECK(explanation.cache_bytes == Fused::kv_cache_bytes);
    CHECK(explanation.arena_bytes == Fused::arena_bytes);
    const std::size_t result = sizeof(float) * 2 * 3 * 24 * 6;
    CHECK(explanation.state_bytes == Fused::state_bytes + result);
    CHECK(explanation.memory_bytes() == Fused(weights()).memory_bytes());
    REQUIRE(explanation.programs.size() == 2);
    const auto check = [&]<class Program>(const serve::ProgramSummary& found) {
        using Expected = tg::Facts<Program>;
        constexpr tg::StepFacts run = Expected::run();
        CHECK(found.recorded_nodes == Expected::recorded_nodes);
        CHECK(found.nodes == Expected::nodes);
        CHECK(found.kernels == Expected::kernels);
        CHECK(found.steps == Expected::steps);
        CHECK(found.launches == Expected::steps);
        CHECK(found.flops == run.flops);
        CHECK(found.bytes == run.bytes_read + run.bytes_written);
        CHECK(found.weight_bytes == static_cast<Index>(Expected::weight_bytes()));
    };
    check.operator()<Fused::ProgramAt<0>>(explanation.programs[0]);
    check.operator()<Fused::ProgramAt<1>>(explanation.programs[1]);
    CHECK(explanation.programs[0].runs == 1);
    CHECK(explanation.programs[1].runs == 2);
    CHECK(explanation.launches() == explanation.programs[0].launches + 2 * explanation.programs[1].launches);
}

TEST_CASE("an explanation of mode eager counts nodes, and the memory that it takes") {
    const serve::Explanation explanation = cpu().explain(bucket, Mode::eager);
    CHECK(explanation.memory_bytes() == cpu().make(bucket, Mode::eager, {})->memory_bytes());
    CHECK(explanation.cache_bytes == Fused::kv_cache_bytes);
    CHECK(explanation.shared_weight_bytes == 0);
    const serve::Explanation fused = cpu().explain(bucket, Mode::standard);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(explanation.programs[i].recorded_nodes == fused.programs[i].recorded_nodes);
        CHECK(explanation.programs[i].nodes <= explanation.programs[i].recorded_nodes);
        CHECK(explanation.programs[i].launches > 2 * fused.programs[i].launches);
        CHECK(explanation.programs[i].bytes > fused.programs[i].bytes);
        CHECK(explanation.programs[i].runs == fused.programs[i].runs);
    }
}

TEST_CASE("the number of threads is measured once, and told") {
    serve::BackendRegistry registry;
    serve::add_cpu_backend<Model, bucket>(registry, weights());
    const auto fresh = registry.get("cpu");
    const auto first = logged("tuning", [&] { (void)fresh->make(bucket, Mode::max_autotune, {.threads = 2}); });
    REQUIRE(first.size() == 1);
    CHECK(holds(first, to_string(bucket)));
    CHECK(holds(first, "2 threads "));
    CHECK(holds(first, "takes "));
    CHECK(logged("tuning", [&] {
              (void)fresh->make(bucket, Mode::max_autotune, {.threads = 2});
              (void)fresh->make(bucket, Mode::max_autotune_no_cudagraphs, {.threads = 2});
              (void)fresh->make(bucket, Mode::standard, {.threads = 2});
          }).empty());
    CHECK(logged("tuning", [&] { (void)fresh->make(bucket, Mode::max_autotune, {.threads = 3}); }).size() == 1);
    // One thread is no choice: no forecast is made to find out.
    CHECK(logged("tuning", [&] { (void)fresh->make(bucket, Mode::max_autotune, {.threads = 1}); }).empty());
}

TEST_CASE("the number of threads is kept in a file, and is not measured by the next process") {
    const tg::test::ScratchFolder folder;
    ::setenv("TOTOGRAPH_CACHE_DIR", folder.path().c_str(), 1);
    const auto make = [] {
        serve::BackendRegistry registry;  // a new one knows nothing
        serve::add_cpu_backend<Model, bucket>(registry, weights());
        serve::add_cpu_backend<Recomputed, plain, mean_bucket>(registry, weights(), "plain");
        return logged("tuning", [&] {
            (void)registry.get("cpu")->make(bucket, Mode::max_autotune, {.threads = 2});
            (void)registry.get("plain")->make(mean_bucket, Mode::max_autotune, {.threads = 2});
        });
    };
    const auto first = make();
    const auto second = make();
    ::setenv("TOTOGRAPH_CACHE_DIR", "", 1);
    CHECK(first.size() == 4);  // for each of two programs, what was measured, and where it is kept
    CHECK(holds(first, "2 threads "));
    CHECK(holds(first, "kept in '" + folder.path().string()));
    REQUIRE(second.size() == 2);
    CHECK(second[0].ends_with("as was measured before"));
    CHECK(second[1].ends_with("as was measured before"));
}

TEST_CASE("forecasters of one service share their threads") {
    const auto before = threads_now();
    const serve::BackendResources shared{.threads = 3, .pools = std::make_shared<tg::cpu::ThreadPools>()};
    {
        const auto first = cpu().make(bucket, Mode::standard, shared);
        CHECK(threads_now() == before + 2);  // the caller's is the third
        const auto second = cpu().make(bucket, Mode::reduce_overhead, shared);
        CHECK(threads_now() == before + 2);
        const auto alone = cpu().make(bucket, Mode::standard, {.threads = 2});
        CHECK(threads_now() == before + 3);
        const auto eager = cpu().make(bucket, Mode::eager, shared);
        CHECK(threads_now() == before + 3);
    }
    CHECK(threads_now() == before);
}

TEST_CASE("a forecaster that was made beside others takes their threads in place of its own") {
    const auto before = threads_now();
    const serve::BackendResources shared{.threads = 3, .pools = std::make_shared<tg::cpu::ThreadPools>()};
    const serve::BackendResources own{.threads = 3, .pools = std::make_shared<tg::cpu::ThreadPools>()};
    const auto first = cpu().make(bucket, Mode::standard, shared);
    const auto beside = cpu().make(bucket, Mode::standard, own);
    const auto eager = cpu().make(bucket, Mode::eager, own);
    CHECK(threads_now() == before + 4);
    const Request asked = request();
    for (serve::BucketForecaster* const one : {beside.get(), eager.get()}) {
        one->use_pools(*shared.pools);
    }
    CHECK(threads_now() == before + 2);
    CHECK(different_bits(fused_forecast(), beside->forecast(asked.series(), options)) == 0);
}

TEST_CASE("programs and fused groups are logged when a forecaster is made") {
    const auto programs = logged("graph", [] { (void)cpu().make(bucket, Mode::standard, {.threads = 1}); });
    CHECK(holds(programs, "cpu in mode default, size " + to_string(bucket)));
    CHECK(holds(programs, "prefill"));
    const auto groups = logged("fusion", [] { (void)cpu().make(bucket, Mode::standard, {.threads = 1}); });
    CHECK(groups.size() ==
          static_cast<std::size_t>(tg::Facts<Fused::ProgramAt<0>>::steps + tg::Facts<Fused::ProgramAt<1>>::steps));
    CHECK(holds(groups, "prefill step 0, kernel 0: "));
    CHECK(holds(groups, "pair of GEMMs with k = "));
    CHECK(holds(groups, ", attention"));
    CHECK(logged("fusion", [] { (void)cpu().make(bucket, Mode::eager, {}); }).empty());
}

TEST_CASE("what it does not have is refused") {
    check_error(ErrorCode::no_bucket, {"'cpu'", to_string(mean_bucket), to_string(bucket)},
                [] { (void)cpu().make(mean_bucket, Mode::standard, {}); });
    check_error(ErrorCode::no_bucket, {to_string(mean_bucket)},
                [] { (void)cpu().explain(mean_bucket, Mode::standard); });
    for (const Mode mode : serve::all_modes) {
        check_error(ErrorCode::invalid_argument, {"-2 threads"},
                    [&] { (void)cpu().make(bucket, mode, {.threads = -2}); });
    }
    check_error(ErrorCode::invalid_argument, {"'cpu'"},
                [] { (void)cpu().make(bucket, static_cast<Mode>(77), {.threads = 1}); });
    CHECK(cpu().describe(static_cast<Mode>(77)).empty());
    serve::BackendRegistry copy = backends();
    check_error(ErrorCode::invalid_argument, {"'cpu'", "taken"},
                [&] { serve::add_cpu_backend<Model, bucket>(copy, weights()); });
    const auto forecaster = cpu().make(bucket, Mode::eager, {});
    check_error(ErrorCode::no_bucket, {"41 steps"},
                [&] { (void)forecaster->forecast(waves(1, 1, 41).series(), {.context = tg::ContextPolicy::error}); });
    CHECK(cpu().buckets() == std::vector<tg::Bucket>{bucket});
}
