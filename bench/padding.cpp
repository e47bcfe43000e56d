// SPDX-License-Identifier: Apache-2.0
//
// What a request costs in a bucket that is too large for it, against a bucket of its size: the demo's architecture,
// with untrained weights.
//
//     bench_padding [THREADS]
//
// A line for each part of the bucket that a request takes: milliseconds of a prefill and of a decode step in the large
// bucket and in the request's own, and their quotient.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include <totograph/models/toto1/demo_1_0.hpp>
#include <totograph/totograph.hpp>

namespace {

namespace tg = totograph;
using tg::Index;
using Model = tg::toto1::demo_1_0;
using Clock = std::chrono::steady_clock;

constexpr tg::Bucket whole{.batch = 4, .variates = 4, .context = 512, .horizon = 64, .samples = 32};

/// Random walks.
std::vector<float> walks(const tg::Bucket& request) {
    std::vector<float> values;
    unsigned state = 1;
    for (Index row = 0; row < request.batch * request.variates; ++row) {
        float value = 0;
        for (Index i = 0; i < request.context; ++i) {
            state = state * 1664525U + 1013904223U;
            value += static_cast<float>(state >> 8U) / 16777216.0F - 0.5F;
            values.push_back(value);
        }
    }
    return values;
}

/// Milliseconds of one run of a program on a request. Each time it begins anew, so that caches are as full as at first.
template <std::size_t which, class Forecaster>
double time_of(Forecaster& forecaster, const tg::Series& series, const tg::Bucket& request) {
    forecaster.fill(series, request, 1);
    if constexpr (which == 1) {
        forecaster.template run<0>();
    }
    const auto start = Clock::now();
    forecaster.template run<which>();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The shortest times of two forecasters, in turns.
template <std::size_t which, class First, class Second>
std::array<double, 2> shortest(First& first, Second& second, const tg::Series& series, const tg::Bucket& request) {
    std::array<double, 2> best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (int repeat = 0; repeat < 20; ++repeat) {
        best[0] = std::min(best[0], time_of<which>(first, series, request));
        best[1] = std::min(best[1], time_of<which>(second, series, request));
    }
    return best;
}

template <tg::Bucket request>
void compare(const char* what, const tg::ModelWeights<Model>& weights, tg::Forecaster<Model, whole>& large,
             int threads) {
    tg::Forecaster<Model, request> own(weights, {.threads = threads});
    const std::vector<float> values = walks(request);
    tg::Series series;
    series.values = values;
    series.batch = request.batch;
    series.variates = request.variates;
    series.steps = request.context;
    const auto prefill = shortest<0>(large, own, series, request);
    const auto step = shortest<1>(large, own, series, request);
    std::printf("%-36s %8.3f %8.3f %6.2f   %8.3f %8.3f %6.2f\n", what, prefill[0], prefill[1], prefill[0] / prefill[1],
                step[0], step[1], step[0] / step[1]);
}

}  // namespace

int main(int count, char** arguments) {
    const int threads = count > 1 ? std::atoi(arguments[1]) : 2;
    const auto weights = tg::untrained<Model>();
    tg::Forecaster<Model, whole> large(weights, {.threads = threads});
    std::printf("bucket %s\n%-36s %8s %8s %6s   %8s %8s %6s\n", to_string(whole).c_str(), "request", "prefill", "own",
                "times", "step", "own", "times");
    compare<tg::Bucket{4, 4, 256, 64, 32}>("half of the context", weights, large, threads);
#ifndef TOTOGRAPH_BENCH_FIRST_ALONE
    compare<tg::Bucket{4, 4, 64, 64, 32}>("an eighth of the context", weights, large, threads);
    compare<tg::Bucket{2, 2, 512, 64, 16}>("half of series, variates and samples", weights, large, threads);
#else
    std::fputs("bench_padding: it has half of the context alone; for the others, build in Release.\n", stderr);
#endif
    return 0;
}
