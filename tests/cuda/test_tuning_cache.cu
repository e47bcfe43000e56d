// SPDX-License-Identifier: Apache-2.0
// Where the algorithms of products come from: measured once, and then read from a file that other processes share.
#include <algorithm>
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

/// Makes a forecaster, all products of which are the library's, and forecasts.
std::vector<float> forecast() {
    static const auto weights = tg::toto::load<replay::Model>(fixture::folder("mixture"));
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
    const std::size_t products = report.misses;
    CHECK(products > 0);
    check_counts(0, products, 0, 0);
    CHECK(report.ignored.empty());
    CHECK(report.not_written.empty());
    CHECK(report.path.rfind((folder.path() / "new" / "folder").string(), 0) == 0);
    REQUIRE(std::filesystem::exists(report.path));
    // Another forecaster of this process asks the process alone.
    CHECK(is_same(forecast(), first));
    check_counts(0, products, products, 0);
    const std::string bytes = content_of(report.path);
    CHECK(is_same(forecast_anew(), first));
    check_counts(products, 0, 0, 0);
    CHECK(content_of(report.path) == bytes);
}

TEST_CASE("a file that is damaged is ignored and replaced") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    const auto first = forecast();
    const std::string path = tg::cuda::tuning_cache_report().path;
    const std::size_t products = tg::cuda::tuning_cache_report().misses;
    const std::string name = std::filesystem::path(path).filename().string();
    std::string bytes = content_of(path);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    for (const std::string& planted : {bytes, bytes.substr(0, bytes.size() / 3), std::string(), std::string("hello")}) {
        folder.file(name, planted);
        CHECK_FALSE(forecast_anew().empty());
        check_counts(0, products, 0, 0);
        check_has(tg::cuda::tuning_cache_report().ignored, "is ignored");
        CHECK_FALSE(forecast_anew().empty());
        check_counts(products, 0, 0, 0);
        CHECK(tg::cuda::tuning_cache_report().ignored.empty());
    }
}

TEST_CASE("choices that the library does not accept are measured again and replaced") {
    const ScratchFolder folder;
    const CacheIn cache(folder.path().string());
    (void)forecast();
    const std::string path = tg::cuda::tuning_cache_report().path;
    const std::size_t products = tg::cuda::tuning_cache_report().misses;
    const std::string identity = tg::cuda::tuning_identity(tg::cuda::describe_device(0));
    tg::io::CacheRecords wrong = tg::io::read_cache_file(path, identity).records;
    REQUIRE(wrong.size() == products);
    bool is_short = true;
    for (auto& [key, choice] : wrong) {
        choice = is_short ? std::string("short") : std::string(sizeof(cublasLtMatmulAlgo_t), '\xff');
        is_short = !is_short;
    }
    REQUIRE(tg::io::update_cache_file(path, identity, {}, wrong).empty());
    CHECK_FALSE(forecast_anew().empty());
    check_counts(0, products, 0, products);
    CHECK_FALSE(forecast_anew().empty());
    check_counts(products, 0, 0, 0);
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
    const auto is_same_algorithm = [](const tg::cuda::ProductAlgorithm& a, const tg::cuda::ProductAlgorithm& b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    };
    tg::cuda::LibraryProducts products;
    tg::cuda::ProductShape shape;
    {
        const tg::cuda::ChoosingAlgorithms choosing(true);
        // Whether there are several depends on the device; of so many shapes some have them.
        for (tg::Index rows = 64; !products.are_open() && rows <= 1024; rows *= 2) {
            shape = {.rows = rows, .columns = 768, .depth = 768, .input_stride = 768, .output_stride = 768};
            products.add(shape, 1, device, true);
        }
        REQUIRE(products.are_open());
        const tg::cuda::ProductAlgorithm by_time = products.find(shape)->algorithm();
        CHECK_FALSE(std::filesystem::exists(tg::cuda::tuning_cache_report().path));
        int asked = 0;
        SUBCASE("one that is clearly faster") {
            products.settle(device, stream, [&](int program) {
                CHECK(program == 1);
                return clear(asked++ == 1 ? 1 : 200);
            });
            CHECK_FALSE(is_same_algorithm(products.find(shape)->algorithm(), by_time));
        }
        SUBCASE("none is clearly faster") {
            products.settle(device, stream, [&](int) { return clear(asked++ == 0 ? 1 : 200); });
            CHECK(is_same_algorithm(products.find(shape)->algorithm(), by_time));
        }
        SUBCASE("a program that does not run") {
            products.settle(device, stream, [&](int) {
                ++asked;
                return tg::cuda::ReplayableGraph();
            });
            CHECK(is_same_algorithm(products.find(shape)->algorithm(), by_time));
        }
        CHECK(asked >= 2);
        CHECK_FALSE(products.are_open());
    }
    // The choice is that of the process, and of the next one.
    const auto expected = products.find(shape)->algorithm();
    CHECK(is_same_algorithm(tg::cuda::fastest_algorithm(*products.find(shape), device), expected));
    tg::cuda::TunedAlgorithms::instance().forget();
    CHECK(is_same_algorithm(tg::cuda::fastest_algorithm(*products.find(shape), device), expected));
    CHECK(tg::cuda::tuning_cache_report().hits == 1);
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
    const std::size_t products = tg::cuda::tuning_cache_report().misses;
    const std::size_t captured = lines_with("captured a graph of ");
    CHECK(captured > 0);
    CHECK(lines_with(" algorithms of cuBLASLt, chose number ") == products);
    CHECK(lines_with(" kept in ") == 1);
    CHECK_FALSE(forecast_anew().empty());
    tg::set_logs("");
    tg::set_log_sink({});
    CHECK(lines_with(" algorithms of cuBLASLt, chose number ") == products);  // none the second time
    CHECK(lines_with("captured a graph of ") == 2 * captured);
    const tg::CacheCounts after = tg::cache_counts().of("tuning").read();
    CHECK(after.misses == before.misses + products);
    CHECK(after.hits == before.hits + products);
    CHECK(after.ignored == before.ignored);
}
