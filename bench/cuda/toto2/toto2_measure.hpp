// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/exec/cuda/runtime/replay_timer.hpp>
#include <totograph/models/toto2/family.hpp>

#include "../library_gemms.hpp"
#include "../measure.hpp"

// Whole forecasts of Toto 2.0, and what they can hardly be faster than.

namespace bench::toto2 {

/// One of the published models, its later steps in blocks of so many; 0 for all at once.
template <class Published, Index block = 0>
struct Sized {
    using Checkpoint = Published;
    static constexpr tg::toto2::Toto2Config config = Published::config;
    static constexpr tg::toto2::Inference inference{.decode_block_size = block};
};

/// What a forecast can hardly be faster than, in milliseconds: the weights of each program read once at the card's copy
/// speed; and the GEMMs of each as plain calls of cuBLAS, one after the other and nothing between them.
struct Floor {
    double weights;
    double gemms;
};

inline double median_replay(const tg::cuda::Stream& stream, const tg::cuda::ReplayableGraph& graph, int repeats) {
    const tg::cuda::ReplayTimer timer(stream);
    std::vector<float> times;
    for (int repeat = -1; repeat < repeats; ++repeat) {
        const float milliseconds = timer.time(graph);
        if (repeat >= 0) {
            times.push_back(milliseconds);
        }
    }
    std::sort(times.begin(), times.end());
    return static_cast<double>(times[times.size() / 2]);
}

/// A GEMM of a plan: rows, columns of both of a pair, k.
struct Multiplication {
    Index m, n, k;
};

/// The GEMMs of all runs of a program.
template <class Program>
void add_gemms(Index runs, std::vector<Multiplication>& all) {
    const auto begin = static_cast<std::ptrdiff_t>(all.size());
    for (const auto& step : tg::tables_of<Program>().steps) {
        const tg::Kernel& kernel = Program::kernels[static_cast<std::size_t>(step.kernel)];
        if (kernel.kind == tg::KernelKind::gemm) {
            all.push_back({kernel.rows(), kernel.columns() * kernel.accumulators, kernel.k});
        }
    }
    const std::vector<Multiplication> once(all.begin() + begin, all.end());
    for (Index run = 1; run < runs; ++run) {
        all.insert(all.end(), once.begin(), once.end());
    }
}

/// What multiplies once: rows and columns and k of each call, noise in place of data.
inline double time_gemms(const std::vector<Multiplication>& gemms, Precision precision, int repeats) {
    std::size_t most_rows = 0;
    std::size_t most_results = 0;
    std::size_t all_weights = 0;
    for (const auto& [m, n, k] : gemms) {
        most_rows = std::max(most_rows, static_cast<std::size_t>(m * k) * element_bytes(precision));
        most_results = std::max(most_results, static_cast<std::size_t>(m * n) * element_bytes(precision));
        all_weights += static_cast<std::size_t>(n * k) * element_bytes(precision);
    }
    const auto input = noise(most_rows);
    const auto weights = noise(all_weights);
    const tg::cuda::DeviceMemory output(most_results);
    const MakeMultiply make = by_calls_of_cublas();
    std::vector<Multiply> calls;
    for (const auto& [m, n, k] : gemms) {
        tg::cuda::GemmShape shape;
        shape.m = m;
        shape.n = n;
        shape.k = k;
        shape.precision = precision;
        calls.push_back(make(shape));
    }
    const tg::cuda::Stream stream;
    const tg::cuda::ReplayableGraph graph(stream, [&](cudaStream_t on) {
        const std::byte* weight = weights.data();
        for (std::size_t i = 0; i < gemms.size(); ++i) {
            calls[i](input.data(), weight, output.data(), on);
            weight += static_cast<std::size_t>(gemms[i].n * gemms[i].k) * element_bytes(precision);
        }
    });
    return median_replay(stream, graph, repeats);
}

/// @param later  how often the second program runs
template <class Forecaster>
Floor floor_of(Index later, Precision precision, int repeats) {
    std::vector<Multiplication> gemms;
    add_gemms<typename Forecaster::template ProgramAt<0>>(1, gemms);
    if constexpr (Forecaster::program_count > 1) {
        add_gemms<typename Forecaster::template ProgramAt<1>>(later, gemms);
    }
    std::size_t bytes = 0;
    for (const auto& [m, n, k] : gemms) {
        bytes += static_cast<std::size_t>(n * k) * element_bytes(precision);
    }
    const tg::cuda::Stream stream;
    const tg::cuda::DeviceMemory from(bytes);
    const tg::cuda::DeviceMemory to(bytes);
    // A copy reads and writes: half of it is one reading at the card's copy speed.
    const tg::cuda::ReplayableGraph copy(stream, [&](cudaStream_t on) {
        tg::cuda::check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, on),
                        "copying weights");
    });
    return {median_replay(stream, copy, repeats) / 2, time_gemms(gemms, precision, repeats)};
}

struct Arguments {
    std::vector<std::string> workloads;
    std::vector<std::string> precisions{"bf16", "tf32"};
    int repeats = 50;
    bool floors = true;
    bool launch_costs = false;  ///< What each launch adds, too.

    [[nodiscard]] bool wants(std::string_view workload, Precision precision) const {
        const auto has = [](const std::vector<std::string>& list, std::string_view item) {
            return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
        };
        return has(workloads, workload) && has(precisions, tg::cuda::name(precision));
    }
};

/// Whole forecasts as a caller sees them, host to host, and what the device computes of one, without copies.
template <class Model, tg::Bucket bucket, Precision precision>
void measure_precision(const char* name, const Arguments& arguments) {
    if (!arguments.wants(name, precision)) {
        return;
    }
    using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;
    constexpr std::size_t last = Forecaster::program_count - 1;
    const Index later = last == 0 ? 0 : tg::FamilyOf<Model>::template Schedule<bucket>::runs(1, bucket.horizon);
    const auto construction = Clock::now();
    Forecaster forecaster(tg::untrained<typename Model::Checkpoint>());
    const double construction_ms = milliseconds_since(construction);
    const auto values = random_walks(bucket);
    const tg::Series series{
        .batch = bucket.batch, .variates = bucket.variates, .steps = bucket.context, .values = values};
    const Spread whole = spread_of(arguments.repeats, [&] { forecaster.forecast(series); });
    const auto& executor = forecaster.executor();
    const tg::cuda::Stream stream;
    const tg::cuda::ReplayableGraph programs(stream, [&](cudaStream_t on) {
        executor.template launch<0>(on);
        for (Index run = 0; run < later; ++run) {
            executor.template launch<last>(on);
        }
    });
    const double device_ms = median_replay(stream, programs, arguments.repeats);
    const Floor floor = arguments.floors ? floor_of<Forecaster>(later, precision, arguments.repeats) : Floor{};
    std::size_t launches = Forecaster::Executor::template launches<0>();
    if constexpr (last > 0) {
        launches += static_cast<std::size_t>(later) * Forecaster::Executor::template launches<1>();
    }
    std::printf(
        "{\"implementation\": \"totograph-cuda\", \"workload\": \"%s\", \"precision\": \"%s\", \"median_ms\": %.4f, "
        "\"min_ms\": %.4f, \"max_ms\": %.4f, \"device_ms\": %.4f, \"floor_weights_ms\": %.4f, \"floor_gemms_ms\": "
        "%.4f, \"launches\": %zu, \"graph_nodes\": %zu, \"construction_ms\": %.1f, \"device_mib\": %.1f}\n",
        name, tg::cuda::name(precision), whole.median, whole.least, whole.most, device_ms, floor.weights, floor.gemms,
        launches, forecaster.graph_nodes(), construction_ms, static_cast<double>(Forecaster::device_bytes()) / 1048576);
    if (arguments.launch_costs) {
        print_all_launch_costs(name, tg::cuda::name(precision), forecaster, arguments.repeats);
    }
    std::fflush(stdout);
}

template <class Model, tg::Bucket bucket>
void measure(const char* name, const Arguments& arguments) {
    measure_precision<Model, bucket, Precision::bf16>(name, arguments);
    measure_precision<Model, bucket, Precision::tf32>(name, arguments);
}

// One file each, so that they compile side by side.
void small_4m(const Arguments& arguments);
void batch_4m(const Arguments& arguments);
void small_22m(const Arguments& arguments);
void readme_22m(const Arguments& arguments);
void batch_22m(const Arguments& arguments);
void block_decode_22m(const Arguments& arguments);
void small_313m(const Arguments& arguments);
void batch_313m(const Arguments& arguments);
void small_2_5b(const Arguments& arguments);
void batch_2_5b(const Arguments& arguments);

}  // namespace bench::toto2
