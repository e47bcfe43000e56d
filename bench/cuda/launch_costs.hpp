// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <totograph/cuda.hpp>
#include <totograph/exec/cuda/runtime/replay_timer.hpp>

namespace bench {

namespace tg = totograph;

/// Prints what each launch of one program of a forecaster adds to it: of graphs that end with it and with the one
/// before, the difference of the medians of replays, in turns. The first has what a graph takes to begin. A launch that
/// lets the next one begin early adds less than it takes, and a short one may add less than times vary. The inputs are
/// those of the last forecast; call it when nothing more is asked of the forecaster, for positions have moved on.
template <std::size_t which, class Forecaster>
void print_launch_costs(const char* workload, const char* precision, Forecaster& forecaster, int repeats) {
    const auto& executor = forecaster.executor();
    const auto list = Forecaster::template launch_list<which>();
    const std::size_t count = list.launches().size();
    const tg::cuda::Stream stream;
    const tg::cuda::ReplayTimer timer(stream);
    std::vector<tg::cuda::ReplayableGraph> graphs;
    for (std::size_t end = 1; end <= count; ++end) {
        graphs.emplace_back(stream, [&](cudaStream_t to) { executor.template launch_some<which>(to, 0, end); });
    }
    std::vector<std::vector<double>> times(count);
    for (int repeat = -1; repeat < repeats; ++repeat) {
        for (std::size_t i = 0; i < count; ++i) {
            const double time = timer.time(graphs[i]);
            if (repeat >= 0) {
                times[i].push_back(time * 1000);
            }
        }
    }
    executor.forget_position_fault();
    double before = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::sort(times[i].begin(), times[i].end());
        const double until = times[i][times[i].size() / 2];
        const auto& launch = list.launches()[i];
        std::printf("%s %s program %zu launch %3zu %7.2f us  %-16s %s%s\n", workload, precision, which, i,
                    until - before, launch.kind(), launch.steps.back().c_str(), launch.extra().c_str());
        before = until;
    }
    std::printf("%s %s program %zu all %.1f us\n", workload, precision, which, before);
}

/// The same of all programs.
template <class Forecaster>
void print_all_launch_costs(const char* workload, const char* precision, Forecaster& forecaster, int repeats) {
    [&]<std::size_t... which>(std::index_sequence<which...>) {
        (print_launch_costs<which>(workload, precision, forecaster, repeats), ...);
    }
    (std::make_index_sequence<Forecaster::program_count>());
}

}  // namespace bench
