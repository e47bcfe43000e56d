// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_profiler_api.h>

#include <totograph/cuda.hpp>
#include <totograph/exec/cuda/runtime/replay_timer.hpp>

#include "../random_walks.hpp"
#include "launch_costs.hpp"

namespace bench {

namespace tg = totograph;
using tg::Index;
using tg::cuda::Precision;
using Model = tg::toto1::open_base_1_0;
using Clock = std::chrono::steady_clock;

struct Arguments {
    std::vector<std::string> workloads;
    std::vector<std::string> precisions{"bf16", "tf32", "f32"};
    int repeats = 20;
    bool memory = false;        ///< In place of times.
    bool launch_costs = false;  ///< What each launch adds, too.
    bool tunes = true;          ///< GEMMs by measurement, in place of cuBLASLt's first choice.
    std::function<tg::ModelWeights<Model>()> load;
    std::optional<tg::ModelWeights<Model>> weights;  ///< Shared by all workloads.

    [[nodiscard]] bool wants(const std::vector<std::string>& list, std::string_view item) const {
        return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
    }
};

inline double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Spread {
    double median;
    double least;
    double most;
};

/// Runs `work` once unmeasured, then `repeats` times.
template <class Work>
Spread spread_of(int repeats, Work&& work) {
    std::vector<double> times;
    for (int repeat = -1; repeat < repeats; ++repeat) {
        const auto start = Clock::now();
        work();
        if (repeat >= 0) {
            times.push_back(milliseconds_since(start));
        }
    }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front(), times.back()};
}

inline void print_memory_heading() {
    std::printf(
        "# MiB of device memory, predicted when compiled and measured. `own`: what one forecaster takes beside the\n"
        "# weights; `all`: the free memory that went, with what CUDA and cuBLASLt keep for themselves.\n"
        "%-18s %-5s %9s %9s %9s %9s %9s | %9s %9s | %9s %9s | %9s %9s\n",
        "workload", "", "caches", "states", "arena", "workspace", "result", "own", "measured", "weights", "measured",
        "all", "measured");
}

/// The memory that a forecaster of weights of its own takes: a row of the table.
template <class Forecaster>
void print_memory(const char* name, Precision precision, const Arguments& arguments) {
    using Store = tg::cuda::DeviceWeights<typename Forecaster::Executor::Memory::template Storage<0>>;
    const auto mebibytes = [](std::size_t bytes) { return static_cast<double>(bytes) / 1048576; };
    const auto free_memory = [] {
        std::size_t free = 0;
        std::size_t total = 0;
        tg::cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
        return free;
    };
    const tg::cuda::MemoryReport predicted = Forecaster::memory();
    const std::size_t held = tg::cuda::held_memory().device;
    const std::size_t free = free_memory();
    const auto weights = arguments.load();
    const Forecaster forecaster(weights);
    const std::size_t weights_measured = weights.weights.prepared<Store>()->bytes();
    const std::size_t own_measured = tg::cuda::held_memory().device - held - weights_measured;
    std::printf("%-18s %-5s %9.2f %9.2f %9.2f %9.2f %9.2f | %9.2f %9.2f | %9.2f %9.2f | %9.2f %9.2f\n", name,
                tg::cuda::name(precision), mebibytes(predicted.caches), mebibytes(predicted.states),
                mebibytes(predicted.arena), mebibytes(predicted.workspace), mebibytes(predicted.result),
                mebibytes(predicted.own()), mebibytes(own_measured), mebibytes(predicted.weights),
                mebibytes(weights_measured), mebibytes(predicted.device()), mebibytes(free - free_memory()));
    std::fflush(stdout);
}

/// Two functions that put the GEMMs of a step of so many rows onto a stream, one after the other and nothing between
/// them, which a decode step of many rows is measured by: by cuBLASLt, and as plain calls of cuBLAS.
std::vector<std::function<void(cudaStream_t)>> gemms_of_step(Index rows, Precision precision);

/// Milliseconds of what the device computes, without copies in and out.
struct ProgramTimes {
    double first;    ///< The first program of a forecast.
    double further;  ///< The one that each further patch takes; 0 without any.
    double gemms;    ///< GEMMs as those of a further patch by cuBLASLt, alone; 0 where rows are few.
    double calls;    ///< The same as plain calls of cuBLAS.
};

/// Times programs, and the GEMMs of a step beside them, in turns. The inputs are those of the last forecast.
template <class Forecaster>
ProgramTimes program_times(Forecaster& forecaster, Precision precision, int repeats) {
    constexpr Index further = Forecaster::sizes.steps - 1;
    constexpr Index rows = Forecaster::sizes.batch * Forecaster::sizes.variates * Forecaster::sizes.samples;
    constexpr Index many_rows = 256;  // of fewer, cuBLASLt's GEMMs take longer than a whole step of ours
    const auto& executor = forecaster.executor();
    const tg::cuda::Stream stream;
    const tg::cuda::ReplayTimer timer(stream);
    const auto programs = [&](Index patches) {
        return tg::cuda::ReplayableGraph(stream, [&](cudaStream_t to) {
            executor.template launch<0>(to);
            for (Index patch = 1; patch < patches; ++patch) {
                executor.template launch<1>(to);
            }
        });
    };
    std::vector<tg::cuda::ReplayableGraph> graphs;
    graphs.push_back(programs(1));
    if (further > 0) {
        graphs.push_back(programs(1 + further));
    }
    std::vector<std::function<void(cudaStream_t)>> gemms;
    if (further > 0 && rows >= many_rows) {
        gemms = gemms_of_step(rows, precision);
    }
    for (const auto& of_step : gemms) {
        graphs.emplace_back(stream, [&](cudaStream_t to) {
            for (Index patch = 0; patch < further; ++patch) {
                of_step(to);
            }
        });
    }
    std::vector<std::vector<float>> times(graphs.size());
    for (int repeat = -1; repeat < repeats; ++repeat) {
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            const float milliseconds = timer.time(graphs[i]);
            if (repeat >= 0) {
                times[i].push_back(milliseconds);
            }
        }
    }
    const auto median = [&](std::size_t i) {
        std::sort(times[i].begin(), times[i].end());
        return static_cast<double>(times[i][times[i].size() / 2]);
    };
    constexpr auto steps = static_cast<double>(further > 0 ? further : 1);
    return {median(0), graphs.size() > 1 ? (median(1) - median(0)) / steps : 0.0,
            graphs.size() > 2 ? median(2) / steps : 0.0, graphs.size() > 3 ? median(3) / steps : 0.0};
}

/// Whole forecasts as a caller sees them, and the parts of it that are the first program and each further patch.
template <tg::Bucket bucket, Precision precision>
void measure_precision(const char* name, const Arguments& arguments) {
    if (!arguments.wants(arguments.workloads, name) ||
        !arguments.wants(arguments.precisions, tg::cuda::name(precision))) {
        return;
    }
    using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;
    if (arguments.memory) {
        print_memory<Forecaster>(name, precision, arguments);
        return;
    }
    const tg::TuningCacheReport tuned_before = tg::cuda::tuning_cache_report();
    const auto construction = Clock::now();
    Forecaster forecaster(*arguments.weights, {.execution = {.tunes = arguments.tunes}});
    const double construction_ms = milliseconds_since(construction);
    const tg::TuningCacheReport tuned = tg::cuda::tuning_cache_report();
    const std::size_t from_file = tuned.hits - tuned_before.hits;
    const auto values = random_walks(bucket);
    tg::Series series;
    series.batch = bucket.batch;
    series.variates = bucket.variates;
    series.steps = bucket.context;
    series.values = values;
    const auto first_start = Clock::now();
    forecaster.forecast(series, {.seed = 7});
    const double first_ms = milliseconds_since(first_start);
    cudaProfilerStart();  // a profiler that waits for it sees one forecast and no tuning
    forecaster.forecast(series, {.seed = 7});
    cudaProfilerStop();
    const Spread whole = spread_of(arguments.repeats, [&] { forecaster.forecast(series, {.seed = 7}); });
    const ProgramTimes programs = program_times(forecaster, precision, arguments.repeats);
    std::printf(
        "{\"implementation\": \"totograph-cuda\", \"workload\": \"%s\", \"precision\": \"%s\", \"samples\": %lld, "
        "\"median_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": %.4f, \"prefill_ms\": %.4f, \"decode_step_ms\": %.4f, "
        "\"step_gemms_ms\": %.4f, \"step_calls_ms\": %.4f, "
        "\"first_ms\": %.3f, \"construction_ms\": %.1f, \"device_mib\": %.1f, \"graph_nodes\": %zu, "
        "\"tuned_gemms\": %zu, \"tuned_from_file\": %zu}\n",
        name, tg::cuda::name(precision), static_cast<long long>(bucket.samples), whole.median, whole.least, whole.most,
        programs.first, programs.further, programs.gemms, programs.calls, first_ms, construction_ms,
        static_cast<double>(Forecaster::device_bytes()) / 1048576, forecaster.graph_nodes(),
        from_file + tuned.misses - tuned_before.misses, from_file);
    if (arguments.launch_costs) {
        print_all_launch_costs(name, tg::cuda::name(precision), forecaster, arguments.repeats);
    }
    std::fflush(stdout);
}

template <tg::Bucket bucket>
void measure(const char* name, const Arguments& arguments) {
    measure_precision<bucket, Precision::bf16>(name, arguments);
    measure_precision<bucket, Precision::tf32>(name, arguments);
    measure_precision<bucket, Precision::f32>(name, arguments);
}

// One file each, so that they compile side by side.
void one_patch(const Arguments& arguments);
void one_patch_samples(const Arguments& arguments);
void context_2048(const Arguments& arguments);
void batch_32(const Arguments& arguments);
void long_mean(const Arguments& arguments);
void dashboard(const Arguments& arguments);
void readme(const Arguments& arguments);

/// Prints how long it takes to read the weights of the layers once, and to compute the GEMMs of steps of so many
/// rows.
void print_floor(const Arguments& arguments, const std::vector<Index>& rows);

/// Prints what launching a kernel costs, and what makes it cost more.
void print_launches(const Arguments& arguments);

}  // namespace bench
