// SPDX-License-Identifier: Apache-2.0
//
// Times what a new patch costs a session of Toto 2.0 (`toto2::Session`), beside a whole forecast of the same context,
// with untrained weights, in turns.
//
//     bench_session [threads] [repeats]
//
// One JSON object a line; times are medians in ms.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include <totograph/totograph.hpp>

#include "random_walks.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using Clock = std::chrono::steady_clock;

template <class Action>
double milliseconds(const Action& action) {
    const auto start = Clock::now();
    action();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

template <class Model, tg::Bucket bucket>
void measure(std::string_view name, int threads, int repeats) {
    constexpr Index patch = Model::config.patch_size;
    const auto weights = tg::untrained<Model>(1);
    tg::toto2::Session<Model, bucket> session(weights, {.threads = threads});
    tg::Forecaster<Model, bucket> forecaster(weights, {.threads = threads});
    // The last patches of the context are those that a session appends.
    const std::vector<float> values = bench::random_walks(bucket);
    const auto first_steps = [&](Index steps) {
        return tg::Series{.steps = steps, .values = std::span(values).first(static_cast<std::size_t>(steps))};
    };
    std::vector<double> whole;
    std::vector<double> grown;
    const Index begin = bucket.context - repeats * patch;
    session.start(first_steps(begin));
    (void)session.forecast();
    (void)forecaster.forecast(first_steps(begin));
    for (Index steps = begin + patch; steps <= bucket.context; steps += patch) {
        whole.push_back(milliseconds([&] { (void)forecaster.forecast(first_steps(steps)); }));
        grown.push_back(milliseconds([&] {
            session.append(std::span(values).subspan(static_cast<std::size_t>(steps - patch), patch));
            (void)session.forecast();
        }));
    }
    if (session.recomputations() != 0) {
        std::fprintf(stderr, "bench_session: the window was computed again, which was not to be measured.\n");
        std::exit(1);
    }
    std::printf(
        "{\"model\": \"%.*s\", \"context\": %d, \"horizon\": %d, \"threads\": %d, \"whole_ms\": %.2f, "
        "\"new_patch_ms\": %.2f, \"ratio\": %.1f}\n",
        static_cast<int>(name.size()), name.data(), static_cast<int>(bucket.context), static_cast<int>(bucket.horizon),
        threads, median(whole), median(grown), median(whole) / median(grown));
    std::fflush(stdout);
}

}  // namespace

int main(int argument_count, char** arguments) {
    const int threads = argument_count > 1 ? std::atoi(arguments[1]) : 2;
    const int repeats = argument_count > 2 ? std::atoi(arguments[2]) : 11;
    if (threads < 1 || repeats < 1 || repeats > 12) {
        std::fprintf(stderr, "bench_session: takes threads, 1 or more, and repeats, 1 to 12.\n");
        return 2;
    }
    measure<tg::toto2::toto2_4m, tg::Bucket{.context = 512, .horizon = 96}>("4m", threads, repeats);
#ifndef TOTOGRAPH_BENCH_FIRST_ALONE
    measure<tg::toto2::toto2_4m, tg::Bucket{.context = 4096, .horizon = 96}>("4m", threads, repeats);
    measure<tg::toto2::toto2_22m, tg::Bucket{.context = 4096, .horizon = 96}>("22m", threads, repeats);
#else
    std::fputs("bench_session: it has the shortest context alone; for the others, build in Release.\n", stderr);
#endif
}
