// SPDX-License-Identifier: Apache-2.0
//
// Times whole forecasts of Toto 2.0 on the CPU with untrained weights, as a caller sees them.
//
//     bench_toto2 [--workloads small_4m,batch_22m] [--weights f32,bf16] [--threads N] [--repeats N]
//     bench_toto2 --workloads series_1,series_8,series_64,series_512 --repeats 3    # series a second by how many at a
//     time
//
// One JSON object a line, so that `bench/compare_toto2.py` can put it beside the public implementation. `gemm_gflop` is
// what the GEMMs of a forecast multiply and add: at the rate of `bench_gemm`, they are the floor.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <totograph/totograph.hpp>

#include "random_walks.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using Clock = std::chrono::steady_clock;

struct Arguments {
    std::vector<std::string> workloads{"small_4m", "small_22m", "small_313m",      "readme_22m",
                                       "batch_4m", "batch_22m", "block_decode_22m"};
    std::vector<std::string> weights{"f32", "bf16"};
    int threads = 2;
    int repeats = 15;

    [[nodiscard]] bool wants(std::string_view workload, tg::DType storage) const {
        const auto has = [](const std::vector<std::string>& list, std::string_view item) {
            return std::find(list.begin(), list.end(), item) != list.end();
        };
        return has(workloads, workload) && has(weights, tg::name(storage));
    }
};

/// One of the published models, its later steps in blocks of so many.
template <class Published, Index block>
struct InBlocks {
    using Checkpoint = Published;
    static constexpr tg::toto2::Toto2Config config = Published::config;
    static constexpr tg::toto2::Inference inference{.decode_block_size = block};
};

template <class Program>
double gemm_flop() {
    double flop = 0;
    for (const auto& step : tg::tables_of<Program>().steps) {
        const tg::Kernel& kernel = Program::kernels[static_cast<std::size_t>(step.kernel)];
        if (kernel.kind == tg::KernelKind::gemm) {
            flop += 2.0 * static_cast<double>(kernel.rows() * kernel.columns() * kernel.accumulators * kernel.k);
        }
    }
    return flop;
}

template <class Model, class Published, tg::Bucket bucket, tg::DType storage>
void measure(const char* name, const Arguments& arguments) {
    if (!arguments.wants(name, storage)) {
        return;
    }
    using Forecaster = tg::Forecaster<Model, bucket, tg::ForecasterOptions{.weights = storage}>;
    Forecaster forecaster(tg::untrained<Published>(1), {.threads = arguments.threads});
    const std::vector<float> values = bench::random_walks(bucket);
    const tg::Series series{
        .batch = bucket.batch, .variates = bucket.variates, .steps = bucket.context, .values = values};
    std::vector<double> times;
    double first = 0;
    for (int repeat = -1; repeat < arguments.repeats; ++repeat) {
        const auto start = Clock::now();
        const tg::Forecast forecast = forecaster.forecast(series);
        const double time = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        if (forecast.horizon() != bucket.horizon) {
            std::abort();
        }
        if (repeat < 0) {
            first = time;
        } else {
            times.push_back(time);
        }
    }
    std::sort(times.begin(), times.end());
    using Programs = tg::SchedulePrograms<Model, bucket, tg::ForecasterOptions{}.passes>;
    double flop = 0;
    Programs::for_each([&]<std::size_t which>() {
        const Index runs = tg::FamilyOf<Model>::template Schedule<bucket>::runs(which, bucket.horizon);
        flop += static_cast<double>(runs) * gemm_flop<typename Programs::template At<which>>();
    });
    const double median = times[times.size() / 2];
    std::printf(
        "{\"implementation\": \"totograph\", \"workload\": \"%s\", \"weights\": \"%s\", \"threads\": %d, "
        "\"median_ms\": %.3f, \"min_ms\": %.3f, \"max_ms\": %.3f, \"first_ms\": %.3f, \"gemm_gflop\": %.3f, "
        "\"series_a_second\": %.1f, \"forecaster_mib\": %.1f}\n",
        name, std::string(tg::name(storage)).c_str(), arguments.threads, median, times.front(), times.back(), first,
        flop / 1e9, static_cast<double>(bucket.batch * bucket.variates) / median * 1e3,
        static_cast<double>(forecaster.memory_bytes()) / 1048576);
    std::fflush(stdout);
}

template <class Published, tg::Bucket bucket, Index block = 0>
void measure_both(const char* name, const Arguments& arguments) {
    using Model = std::conditional_t<block == 0, Published, InBlocks<Published, block>>;
    measure<Model, Published, bucket, tg::DType::f32>(name, arguments);
    measure<Model, Published, bucket, tg::DType::bf16>(name, arguments);
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Times whole forecasts of Toto 2.0 on the CPU with untrained weights.");
    app.add_option(
           "--workloads", arguments.workloads,
           "small_4m, small_22m, small_313m, readme_22m, batch_4m, batch_22m, block_decode_22m; series_1, series_8, "
           "series_64, series_512 (22m, 4,096 steps), which run when they are named")
        ->delimiter(',');
    app.add_option("--weights", arguments.weights, "f32, bf16")->delimiter(',');
    app.add_option("--threads", arguments.threads, "threads of one forecast");
    app.add_option("--repeats", arguments.repeats, "timed forecasts of each workload");
    CLI11_PARSE(app, argc, argv);

    using tg::toto2::toto2_22m;
    using tg::toto2::toto2_313m;
    using tg::toto2::toto2_4m;
    constexpr tg::Bucket small{.context = 512, .horizon = 96};
    constexpr tg::Bucket batch{.batch = 64, .context = 2048, .horizon = 96};
    measure_both<toto2_4m, small>("small_4m", arguments);
    measure_both<toto2_22m, small>("small_22m", arguments);
    measure_both<toto2_313m, small>("small_313m", arguments);
    measure_both<toto2_4m, batch>("batch_4m", arguments);
    measure_both<toto2_22m, batch>("batch_22m", arguments);
    measure_both<toto2_22m, {.variates = 7, .context = 4096, .horizon = 336}>("readme_22m", arguments);
    measure_both<toto2_22m, {.context = 1024, .horizon = 2048}, 768>("block_decode_22m", arguments);
    measure_both<toto2_22m, {.batch = 1, .context = 4096, .horizon = 96}>("series_1", arguments);
    measure_both<toto2_22m, {.batch = 8, .context = 4096, .horizon = 96}>("series_8", arguments);
    measure_both<toto2_22m, {.batch = 64, .context = 4096, .horizon = 96}>("series_64", arguments);
    measure_both<toto2_22m, {.batch = 512, .context = 4096, .horizon = 96}>("series_512", arguments);
}
