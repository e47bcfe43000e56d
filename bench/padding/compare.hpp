// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include <totograph/totograph.hpp>

/// A request in a large bucket against a bucket of its own size: what bench_padding and bench_padding_* share.
namespace padding {

namespace tg = totograph;
using tg::Index;

/// Random walks of a request's sizes.
class Walks {
public:
    explicit Walks(const tg::Bucket& request) : request_(request) {
        unsigned state = 1;
        for (Index row = 0; row < request.batch * request.variates; ++row) {
            float value = 0;
            for (Index i = 0; i < request.context; ++i) {
                state = state * 1664525U + 1013904223U;
                value += static_cast<float>(state >> 8U) / 16777216.0F - 0.5F;
                values_.push_back(value);
            }
        }
    }
    [[nodiscard]] tg::Series series() const {
        return {.batch = request_.batch, .variates = request_.variates, .steps = request_.context, .values = values_};
    }

private:
    tg::Bucket request_;
    std::vector<float> values_;
};

struct Arguments {
    int threads = 2;
    int repeats = 20;

    Arguments(int count, char** words)
        : threads(count > 1 ? std::atoi(words[1]) : 2), repeats(count > 2 ? std::atoi(words[2]) : 20) {}
};

/// Milliseconds of one run of a program on a request. Each time all begins anew, so that caches are as full as at
/// first.
template <std::size_t which, class Forecaster>
double time_of(Forecaster& forecaster, const tg::Series& series, const tg::Bucket& request) {
    forecaster.fill(series, request, 1);
    [&]<std::size_t... before>(std::index_sequence<before...>) {
        (forecaster.template run<before>(), ...);
    }
    (std::make_index_sequence<which>());
    const auto start = std::chrono::steady_clock::now();
    forecaster.template run<which>();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// One model with one large bucket. `Data(request).series()` makes a request's series.
template <class Model, tg::Bucket whole, class Data = Walks>
class Padding {
    template <tg::Bucket bucket>
    using Schedule = typename tg::FamilyOf<Model>::template Schedule<bucket>;

public:
    Padding(const char* title, const Arguments& arguments)
        : arguments_(arguments),
          weights_(tg::untrained<typename tg::CheckpointOf<Model>::type>(1)),
          large_(weights_, {.threads = arguments.threads}) {
        std::printf("\n%s, bucket %s\n%-34s %-12s %9s %9s %6s\n", title, to_string(whole).c_str(), "request", "program",
                    "ms", "own, ms", "times");
        const Data data(whole);
        [&]<std::size_t... which>(std::index_sequence<which...>) {
            (whole_line<which>(data.series()), ...);
        }
        (std::make_index_sequence<Schedule<whole>::names.size()>());
    }

    /// A line for each program: its shortest times in the large bucket and in the request's own, in turns.
    template <tg::Bucket request>
    void compare(const char* what) {
        static_assert(whole.holds(request) && Schedule<request>::names == Schedule<whole>::names);
        tg::Forecaster<Model, request> own(weights_, {.threads = arguments_.threads});
        const Data data(request);
        [&]<std::size_t... which>(std::index_sequence<which...>) {
            (line<which, request>(what, own, data.series()), ...);
        }
        (std::make_index_sequence<Schedule<request>::names.size()>());
        std::fflush(stdout);
    }

private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    template <std::size_t which>
    void whole_line(const tg::Series& series) {
        double best = never;
        for (int repeat = 0; repeat < arguments_.repeats; ++repeat) {
            best = std::min(best, time_of<which>(large_, series, whole));
        }
        std::printf("%-34s %-12s %9.3f\n", "all of it", Schedule<whole>::names[which].data(), best);
    }

    template <std::size_t which, tg::Bucket request, class Own>
    void line(const char* what, Own& own, const tg::Series& series) {
        double in_large = never;
        double in_own = never;
        for (int repeat = 0; repeat < arguments_.repeats; ++repeat) {
            in_large = std::min(in_large, time_of<which>(large_, series, request));
            in_own = std::min(in_own, time_of<which>(own, series, request));
        }
        std::printf("%-34s %-12s %9.3f %9.3f %6.2f\n", what, Schedule<whole>::names[which].data(), in_large, in_own,
                    in_large / in_own);
    }

    Arguments arguments_;
    tg::WeightsOf<Model> weights_;
    tg::Forecaster<Model, whole> large_;
};

}  // namespace padding
