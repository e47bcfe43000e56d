// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/forecaster_options.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/serve/backends/cpu_backend.hpp>
#include <totograph/serve/explain/cpu_explanation.hpp>
#include <totograph/serve/explain/explain_html.hpp>
#include <totograph/serve/explain/measure_cpu_speed.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/synthetic_request.hpp>

namespace totograph::serve {

namespace detail {

/// The middle one of some durations.
inline double middle(std::vector<double> seconds) {
    const auto half = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), half, seconds.end());
    return *half;
}

/// Runs a forecaster's programs as a forecast does, `rounds` times after an untimed one, and puts down the median time
/// of a forecast and of each step.
template <class Forecaster>
class StepClock {
public:
    StepClock(Forecaster& forecaster, const ForecastPlan& plan, int rounds)
        : forecaster_(forecaster), plan_(plan), rounds_(rounds) {}

    template <std::size_t... which>
    void measure(ExplanationPage& page, std::index_sequence<which...>) {
        std::vector<std::vector<std::vector<double>>> steps(sizeof...(which));
        for (std::size_t program = 0; program < steps.size(); ++program) {
            steps[program].resize(page.programs[program].tables.steps.size());
        }
        const SyntheticRequest request(plan_.bucket);
        std::vector<double> forecasts;
        for (int round = 0; round <= rounds_; ++round) {
            forecaster_.fill(request.series(), plan_.bucket, 1);
            const auto start = Clock::now();
            (run<which>(steps[which], round > 0), ...);
            if (round > 0) {
                forecasts.push_back(seconds_since(start));
            }
        }
        page.forecast_seconds = middle(forecasts);
        for (std::size_t program = 0; program < steps.size(); ++program) {
            for (std::vector<double>& one : steps[program]) {
                page.programs[program].step_seconds.push_back(one.empty() ? 0 : middle(std::move(one)));
            }
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    static double seconds_since(Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    }

    template <std::size_t which>
    void run(std::vector<std::vector<double>>& steps, bool is_timed) {
        for (Index left = plan_.runs(which, plan_.bucket.horizon); left > 0; --left) {
            forecaster_.executor().template run_observed<which>([&](int step, const auto& call) {
                const auto start = Clock::now();
                call();
                if (is_timed) {
                    steps[static_cast<std::size_t>(step)].push_back(seconds_since(start));
                }
            });
        }
    }

    Forecaster& forecaster_;
    const ForecastPlan& plan_;
    int rounds_;
};

}  // namespace detail

/// The page of a bucket's fused forecaster on the CPU (`explain_html`), with what each step takes on a made-up request
/// that fills the bucket, and the machine's speed for the floors. Takes as long as `rounds` and one more forecasts, and
/// a moment. Throws `Error` as `Forecaster` does.
/// @param threads  that it may use; 0: as many as there are
template <class Model, Bucket bucket, ForecasterOptions options = ForecasterOptions{}>
ExplanationPage cpu_page(const WeightsOf<Model>& weights, int threads = 0, int rounds = 9) {
    constexpr ForecastPlan plan = forecast_plan<Model, bucket>();
    const detail::FusedFacts facts = detail::compiled_bucket<Model, bucket, options>().facts();
    const int count = thread_count(threads);
    ExplanationPage page{.explanation = detail::explain_fused(facts, count),
                         .storage = facts.storage,
                         .speed = measure_cpu_speed(threads)};
    page.explanation.backend = "cpu";
    page.explanation.mode = name(Mode::standard);
    for (std::size_t i = 0; i < facts.programs.size(); ++i) {
        page.programs.push_back({std::string(plan.titles[i]), facts.programs[i]});
    }
    Forecaster<Model, bucket, options> forecaster(weights, {.threads = threads});
    detail::StepClock(forecaster, plan, rounds).measure(page, std::make_index_sequence<plan.program_count()>());
    return page;
}

}  // namespace totograph::serve
