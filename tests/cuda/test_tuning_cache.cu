// SPDX-License-Identifier: Apache-2.0
// Where the algorithms of GEMMs come from: measured once, and then read from a file that other processes share.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/log.hpp>
#include <totograph/cuda.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/tuning.hpp>
#include <totograph/io/cache/cache_file.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"
#include "io/support.hpp"

using namespace device_test;
using totograph::test::content_of;
using totograph::test::ScratchFolder;

namespace {

/// Names a folder for the cache, and forgets what the process knows, so that a forecaster begins as in a new process.
class CacheIn {
public:
    explicit CacheIn(const std::string& folder) {
        const char* const before = std::getenv(variable);
        had_one_ = before != nullptr;
        before_ = had_one_ ? before : "";
        REQUIRE(::setenv(variable, folder.c_str(), 1) == 0);
        tg::cuda::TunedAlgorithms::instance().forget();
    }
    CacheIn(const CacheIn&) = delete;
    CacheIn& operator=(const CacheIn&) = delete;
    ~CacheIn() {
        had_one_ ? ::setenv(variable, before_.c_str(), 1) : ::unsetenv(variable);
        tg::cuda::TunedAlgorithms::instance().forget();
    }

private:
    static constexpr const char* variable = "TOTOGRAPH_CACHE_DIR";
    bool had_one_ = false;
    std::string before_;
};

/// Makes a forecaster, and forecasts. GEMMs of further patches, which have 72 rows, are the library's.
std::vector<float> forecast() {
    static const auto weights = tg::load<replay::Model>(fixture::folder("mixture"));
    tg::cuda::Forecaster<replay::Model, replay::sampled,
                         tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::tf32}>
        forecaster(weights);
    const auto request = replay::request_for(replay::sampled);
    return values_of(forecaster.forecast(request.series(), {.seed = replay::seed}));
}

/// The same as a new process does it.
std::vector<float> forecast_anew() {
    tg::cuda::TunedAlgorithms::instance().forget();
    return forecast();
}

void check_counts(std::size_t hits, std::size_t misses, std::size_t repeats, std::size_t refused) {
    const tg::TuningCacheReport report = tg::cuda::tuning_cache_report();
    MESSAGE(to_string(report));
    CHECK(report.hits == hits);
    CHECK(report.misses == misses);
    CHECK(report.repeats == repeats);
    CHECK(report.refused == refused);
}

}  // namespace

TEST_CASE("what one process has measured the next takes from the file, to the same bits") {
    const ScratchFolder folder;
    const CacheIn cache((folder.path() / "new" / "folder").string());
    const auto first = forecast();
    const tg::TuningCacheReport report = tg::cuda::tuning_cache_report();
    const std::size_t gemms = report.misses;
    CHECK(gemms > 0);
    check_counts(0, gemms, 0, 0);
    CHECK(report.ignored.empty());
    CHECK(report.not_written.empty());
    CHECK(report.path.rfind((folder.path() / "new" / "folder").string(), 0) == 0);
    REQUIRE(std::filesystem::exists(report.path));
    // Another forecaster of this process asks the process alone.
    CHECK(is_same(forecast(), first));
    check_counts(0, gemms, gemms, 0);
    const std::string bytes = content_of(report.path);
    CHECK(is_same(forecast_anew(), first));
    check_counts(gemms, 0, 0, 0);
    CHECK(content_of(report.path) == bytes);
}

TEST_CASE("a file that is damaged is ignored and replaced") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    const auto first = forecast();
    const std::string path = tg::cuda::tuning_cache_report().path;
    const std::size_t gemms = tg::cuda::tuning_cache_report().misses;
    const std::string name = std::filesystem::path(path).filename().string();
    std::string bytes = content_of(path);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    for (const std::string& planted : {bytes, bytes.substr(0, bytes.size() / 3), std::string(), std::string("hello")}) {
        folder.file(name, planted);
        CHECK_FALSE(forecast_anew().empty());
        check_counts(0, gemms, 0, 0);
        check_has(tg::cuda::tuning_cache_report().ignored, "is ignored");
        CHECK_FALSE(forecast_anew().empty());
        check_counts(gemms, 0, 0, 0);
        CHECK(tg::cuda::tuning_cache_report().ignored.empty());
    }
}

TEST_CASE("choices that the library does not accept are measured again and replaced") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    (void)forecast();
    const std::string path = tg::cuda::tuning_cache_report().path;
    const std::size_t gemms = tg::cuda::tuning_cache_report().misses;
    const std::string identity = tg::cuda::tuning_identity(tg::cuda::describe_device(0));
    tg::io::CacheRecords wrong = tg::io::read_cache_file(path, identity).records;
    REQUIRE(wrong.size() == gemms);
    bool is_short = true;
    for (auto& [key, choice] : wrong) {
        choice = is_short ? std::string("short") : std::string(sizeof(cublasLtMatmulAlgo_t), '\xff');
        is_short = !is_short;
    }
    REQUIRE(tg::io::update_cache_file(path, identity, {}, wrong).empty());
    CHECK_FALSE(forecast_anew().empty());
    check_counts(0, gemms, 0, gemms);
    CHECK_FALSE(forecast_anew().empty());
    check_counts(gemms, 0, 0, 0);
}

TEST_CASE("another time than the first is taken when it is clearly less") {
    CHECK(tg::cuda::clearly_least({1.0F}) == 0);
    CHECK(tg::cuda::clearly_least({1.0F, 0.998F, 1.1F}) == 0);
    CHECK(tg::cuda::clearly_least({1.0F, 0.998F, 0.99F}) == 2);
    CHECK(tg::cuda::clearly_least({1.0F, 0.5F, 0.9F}) == 1);
    CHECK(tg::cuda::clearly_least({0.5F, 1.0F, 1.0F}) == 0);
}

TEST_CASE("among algorithms that are about as fast the time of the program decides") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    const tg::cuda::Device device = tg::cuda::describe_device(0);
    const tg::cuda::Stream stream;
    const tg::cuda::DeviceMemory memory(1024);
    const auto clear = [&](int times) {
        return tg::cuda::ReplayableGraph(stream, [&](cudaStream_t to) {
            for (int i = 0; i < times; ++i) {
                tg::cuda::check(cudaMemsetAsync(memory.data(), 1, memory.size(), to), "clearing memory");
            }
        });
    };
    const tg::cuda::GemmShape shape{.m = 64, .n = 768, .k = 768, .input_stride = 768, .output_stride = 768};
    const tg::cuda::CublasLtHandle library;
    const tg::cuda::CublasLtGemm gemm(library.get(), shape);
    auto candidates = gemm.candidates(tg::cuda::most_candidates);
    REQUIRE(candidates.size() >= 3);
    candidates.resize(3);
    tg::cuda::CublasLtGemms gemms;
    gemms.add(tg::cuda::CublasLtGemm(library.get(), shape), 1, candidates, true);
    std::size_t expected = 0;
    {
        tg::cuda::ChoosingAlgorithms choosing;
        choosing.begin(device);
        int asked = 0;
        SUBCASE("one that is clearly faster") {
            gemms.choose_in_programs(device, stream, [&](int program) {
                CHECK(program == 1);
                return clear(asked++ == 1 ? 1 : 200);
            });
            CHECK(asked == 3);
            expected = 1;
        }
        SUBCASE("the first one is the fastest") {
            gemms.choose_in_programs(device, stream, [&](int) { return clear(asked++ == 0 ? 1 : 200); });
            CHECK(asked == 3);
        }
        SUBCASE("one that cannot be captured") {
            gemms.choose_in_programs(device, stream, [&](int) {
                if (asked++ == 0) {
                    throw tg::Error(tg::ErrorCode::device_failure, "of the test");
                }
                return clear(asked == 2 ? 200 : 1);
            });
            CHECK(asked == 3);
            expected = 2;
        }
        SUBCASE("the fastest alone, where nobody asks for programs") {
            gemms.keep_fastest(device);
        }
        gemms.choose_in_programs(device, stream, [&](int) {
            FAIL_CHECK("nothing is open any more");
            return tg::cuda::ReplayableGraph();
        });
        choosing.end();
    }
    // It is the choice of the process, and of the next one.
    auto& algorithms = tg::cuda::TunedAlgorithms::instance();
    for (int process = 0; process < 2; ++process) {
        const auto kept = algorithms.find(gemm, device);
        REQUIRE(kept);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            CHECK((std::memcmp(&*kept, &candidates[i], sizeof *kept) == 0) == (i == expected));
        }
        algorithms.forget();
    }
}

TEST_CASE("a choice that was not made is not kept") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    const tg::cuda::Device device = tg::cuda::describe_device(0);
    const tg::cuda::Stream stream;
    const tg::cuda::CublasLtHandle library;
    const tg::cuda::GemmShape open{.m = 64, .n = 768, .k = 768, .input_stride = 768, .output_stride = 768};
    tg::cuda::GemmShape untuned = open;
    untuned.m = 128;
    tg::cuda::CublasLtGemm gemm(library.get(), open);
    auto candidates = gemm.candidates(tg::cuda::most_candidates);
    tg::cuda::CublasLtGemms gemms;
    tg::cuda::ChoosingAlgorithms choosing;
    choosing.begin(device);
    gemms.add(std::move(gemm), 0, std::move(candidates), true);
    gemms.add_untuned(untuned);
    SUBCASE("nobody chooses") {}
    SUBCASE("no memory to try it") {
        gemms.choose_in_programs(device, stream, [](int) -> tg::cuda::ReplayableGraph {
            throw tg::Error(tg::ErrorCode::out_of_memory, "of the test");
        });
    }
    SUBCASE("nothing can be captured") {
        gemms.choose_in_programs(device, stream, [](int) -> tg::cuda::ReplayableGraph {
            throw tg::Error(tg::ErrorCode::device_failure, "of the test");
        });
    }
    for (const tg::cuda::GemmShape& shape : {open, untuned}) {
        CHECK_FALSE(tg::cuda::TunedAlgorithms::instance().find(*gemms.find(shape), device));
    }
    choosing.end();
    const std::string path = tg::cuda::tuning_cache_report().path;
    REQUIRE_FALSE(path.empty());
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("buckets of every kind choose on what they run") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    static const auto weights = tg::load<replay::Model>(fixture::folder("mixture"));
    const auto gemms_of = [&]<tg::Bucket bucket, bool kv_cache>() {
        tg::cuda::TunedAlgorithms::instance().forget();
        tg::cuda::Forecaster<tg::toto1::WithRewrites<replay::Model, tg::toto1::Rewrites{.kv_cache = kv_cache}>, bucket,
                             tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::f32}>
            forecaster(weights);
        const auto request = replay::waves(bucket.batch, bucket.variates, bucket.context);
        for (const float value : forecaster.forecast(request.series(), {.seed = replay::seed}).mean()) {
            CHECK(std::isfinite(value));
        }
        return tg::cuda::tuning_cache_report().misses;
    };
    using tg::Bucket;
    // Of more rows than skinny kernels take, 75 of the context, 90 of a further patch, and too few for tf32 parts.
    const auto one = gemms_of.operator()<Bucket{.variates = 15, .context = 40, .horizon = 8, .samples = 6}, true>();
    const ScratchFolder another;
    const CacheIn empty(another.path().string());
    const auto all = gemms_of.operator()<Bucket{.variates = 15, .context = 40, .horizon = 24, .samples = 6}, true>();
    CHECK(one > 0);
    CHECK(all > one);  // of one patch, the program of further ones does not run
    CHECK(gemms_of.operator()<Bucket{.variates = 15, .context = 48, .horizon = 24, .samples = 6}, false>() > 0);
    constexpr Bucket exogenous{.batch = 2, .variates = 9, .context = 40, .horizon = 24, .exogenous = 1};
    CHECK(gemms_of.operator()<exogenous, true>() > 0);
}

TEST_CASE("without a file every process measures") {
    SUBCASE("switched off") {
        const CacheIn cache("");
        CHECK_FALSE(forecast().empty());
        const tg::TuningCacheReport report = tg::cuda::tuning_cache_report();
        CHECK(report.misses > 0);
        CHECK(report.path.empty());
        check_has(report.ignored, "switches the cache off");
    }
    SUBCASE("a folder that cannot be made") {
        const ScratchFolder folder;
        const CacheIn cache((folder.file("plain", "") / "folder").string());
        CHECK_FALSE(forecast().empty());
        const tg::TuningCacheReport report = tg::cuda::tuning_cache_report();
        CHECK(report.misses > 0);
        check_has(report.not_written, "cannot be made");
    }
}

TEST_CASE("what is measured and captured is counted and told") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    std::vector<std::string> lines;
    const auto lines_with = [&](const std::string& part) {
        return static_cast<std::size_t>(std::count_if(
            lines.begin(), lines.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; }));
    };
    const tg::CacheCounts before = tg::cache_counts().of("tuning").read();
    tg::set_log_sink([&](tg::LogTopic, std::string_view line) { lines.emplace_back(line); });
    tg::set_logs("tuning,capture");
    CHECK_FALSE(forecast().empty());
    const std::size_t gemms = tg::cuda::tuning_cache_report().misses;
    const std::size_t captured = lines_with("captured a graph of ");
    CHECK(captured > 0);
    CHECK(lines_with(" algorithms of cuBLASLt alone, ") == gemms);
    CHECK(lines_with(" kept in ") == 1);
    CHECK_FALSE(forecast_anew().empty());
    tg::set_logs("");
    tg::set_log_sink({});
    CHECK(lines_with(" algorithms of cuBLASLt alone, ") == gemms);  // none the second time
    CHECK(lines_with("captured a graph of ") == 2 * captured);
    const tg::CacheCounts after = tg::cache_counts().of("tuning").read();
    CHECK(after.misses == before.misses + gemms);
    CHECK(after.hits == before.hits + gemms);
    CHECK(after.ignored == before.ignored);
}
