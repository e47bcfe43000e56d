// SPDX-License-Identifier: Apache-2.0
//
// What a request costs in a bucket that is too large for it, against a bucket of its size, on a CUDA device: the
// full-size Toto 1.0 and Toto 2.0 22m in blocks of 128 steps, with untrained weights, in bf16. bench_padding is the
// same on a CPU.
//
//     bench_cuda_padding [--models toto1,toto2] [--repeats N]
//
// A line for each part of the bucket that a request takes: milliseconds of whole forecasts, host to host, in the large
// bucket and in the request's own, the shortest of all repeats in turns, and their quotient. `first` is a forecast of
// what the first program gives, and `step` what each further run of the second one adds to it.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "padding_measure.hpp"

namespace {

namespace tg = totograph;
using namespace bench::padding;
using tg::Bucket;
using tg::Index;

/// Forecasts of one request: of what the first program gives, and of all.
class Request {
public:
    /// @param first  steps that the first program gives, and each further run of the second one
    Request(const Bucket& sizes, Index first) : sizes_(sizes), first_(first), values_(bench::random_walks(sizes)) {}

    struct Times {
        double first = std::numeric_limits<double>::infinity();
        double whole = std::numeric_limits<double>::infinity();
    };

    /// Runs both once, and keeps the shorter times.
    void run(const Forecast& forecast, Times& times) const {
        times.first = std::min(times.first, time_of(forecast, first_));
        times.whole = std::min(times.whole, time_of(forecast, sizes_.horizon));
    }
    /// What a further run adds.
    [[nodiscard]] double step_of(const Times& times) const {
        return (times.whole - times.first) / static_cast<double>(sizes_.horizon / first_ - 1);
    }

private:
    [[nodiscard]] double time_of(const Forecast& forecast, Index horizon) const {
        const tg::Series series{
            .batch = sizes_.batch, .variates = sizes_.variates, .steps = sizes_.context, .values = values_};
        tg::ForecastOptions options;
        options.horizon = horizon;
        if (sizes_.samples > 0) {
            options.samples = sizes_.samples;
        }
        const auto start = bench::Clock::now();
        forecast(series, options);
        return bench::milliseconds_since(start);
    }

    Bucket sizes_;
    Index first_;
    std::vector<float> values_;
};

/// A part of the bucket, and who makes a forecaster of its size.
template <class ModelType>
struct Row {
    const char* what;
    Bucket sizes;
    Forecast (*own)(const WeightsOf<ModelType>&);
};

void print_times(const Request& request, const Request::Times& times) {
    std::printf(" %9.3f %9.3f %9.3f", times.first, request.step_of(times), times.whole);
}

template <class ModelType>
void compare(const char* title, const Bucket& whole, Index first, Forecast (*make)(const WeightsOf<ModelType>&),
             const std::vector<Row<ModelType>>& rows, int repeats) {
    const WeightsOf<ModelType> weights = tg::untrained<typename tg::CheckpointOf<ModelType>::type>(1);
    const Forecast large = make(weights);
    std::printf("\n%s, bucket %s\n%-28s %29s %29s %20s\n%-28s %9s %9s %9s %9s %9s %9s %6s %6s %6s\n", title,
                to_string(whole).c_str(), "", "in the large bucket, ms", "in its own, ms", "times", "request", "first",
                "step", "all", "first", "step", "all", "first", "step", "all");
    const Request all(whole, first);
    Request::Times of_all;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        all.run(large, of_all);
    }
    std::printf("%-28s", "all of it");
    print_times(all, of_all);
    std::printf("\n");
    for (const Row<ModelType>& row : rows) {
        const Forecast own = row.own(weights);
        const Request request(row.sizes, first);
        Request::Times in_large;
        Request::Times in_own;
        for (int repeat = 0; repeat < repeats; ++repeat) {
            request.run(large, in_large);
            request.run(own, in_own);
        }
        std::printf("%-28s", row.what);
        print_times(request, in_large);
        print_times(request, in_own);
        std::printf(" %6.2f %6.2f %6.2f\n", in_large.first / in_own.first,
                    request.step_of(in_large) / request.step_of(in_own), in_large.whole / in_own.whole);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> models{"toto1", "toto2"};
    int repeats = 20;
    CLI::App app("Times requests in a bucket that is too large for them on a CUDA device.");
    app.add_option("--models", models, "toto1, toto2")->delimiter(',');
    app.add_option("--repeats", repeats, "timed forecasts of each request, at least 1")->check(CLI::Range(1, 1000000));
    CLI11_PARSE(app, argc, argv);
    const auto wants = [&](const char* name) { return std::find(models.begin(), models.end(), name) != models.end(); };
    try {
        if (wants("toto1")) {
            compare<Toto1>("Toto 1.0", toto1_bucket, 64, toto1_whole,
                           {
                               {"an eighth of the series", with_series(toto1_bucket, 1), toto1_series_eighth},
                               {"half of the series", with_series(toto1_bucket, 4), toto1_series_half},
                               {"one of seven variates", with_variates(toto1_bucket, 1), toto1_variates_one},
                               {"four of seven variates", with_variates(toto1_bucket, 4), toto1_variates_four},
                               {"an eighth of the context", with_context(toto1_bucket, 256), toto1_context_eighth},
                               {"half of the context", with_context(toto1_bucket, 1024), toto1_context_half},
                               {"an eighth of the samples", with_samples(toto1_bucket, 4), toto1_samples_eighth},
                               {"half of the samples", with_samples(toto1_bucket, 16), toto1_samples_half},
                           },
                           repeats);
        }
        if (wants("toto2")) {
            compare<Toto2>("Toto 2.0 22m, blocks of 128 steps", toto2_bucket, 128, toto2_whole,
                           {
                               {"an eighth of the series", with_series(toto2_bucket, 1), toto2_series_eighth},
                               {"half of the series", with_series(toto2_bucket, 4), toto2_series_half},
                               {"one of seven variates", with_variates(toto2_bucket, 1), toto2_variates_one},
                               {"four of seven variates", with_variates(toto2_bucket, 4), toto2_variates_four},
                               {"an eighth of the context", with_context(toto2_bucket, 256), toto2_context_eighth},
                               {"half of the context", with_context(toto2_bucket, 1024), toto2_context_half},
                           },
                           repeats);
        }
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "bench_cuda_padding: %s\n", error.what());
        return 1;
    }
    return 0;
}
