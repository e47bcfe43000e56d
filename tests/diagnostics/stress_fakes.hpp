// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/diagnostics/stress/plan.hpp>
#include <totograph/diagnostics/stress/run.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

// A backend without a model, whose faults are planted.

namespace stress_fakes {

namespace tg = totograph;
using tg::Bucket;
using tg::Index;
using tg::serve::Mode;

inline constexpr Bucket small{.variates = 4, .context = 64, .horizon = 16, .samples = 32};
inline constexpr Bucket large{.batch = 2, .variates = 4, .context = 128, .horizon = 16, .samples = 32};

/// What is wrong, beside mode `eager`, which never is.
struct Faults {
    std::function<float(float value, Index variate, Index step, Index sample)> kernel{};
    float series = 0;  ///< When not 0, the kernel is wrong for series alone whose last value is larger.
    std::chrono::nanoseconds latency{1'000'000};  ///< Eager takes 10 ms,
    std::chrono::nanoseconds planned{0};          ///< mode `default`, when not 0, so long,
    Bucket slow{};                                ///< but 2 s for this bucket.
    std::size_t more_memory = 0;                  ///< Held beyond what is planned.
    std::size_t leak = 0;                         ///< Bytes that each forecast adds.
    std::function<void()> on_make{};
    std::function<void()> on_forecast{};
};

/// Time and memory of the machine, in which nothing happens by itself: measurements are exact.
struct Machine {
    std::chrono::nanoseconds now{0};
    std::size_t process = std::size_t{1} << 30U;
    std::size_t device = std::size_t{1} << 30U;
    Faults faults;
    int forecasts = 0;

    [[nodiscard]] tg::serve::StressProbes probes() {
        return {[this] { return now; }, [this] { return process; }, {}};
    }
};

/// Repeats the last value with noise that depends on the place and the seed alone.
class FakeForecaster final : public tg::serve::BucketForecaster {
public:
    FakeForecaster(Machine& machine, const Bucket& bucket, bool is_eager, bool is_planned = false)
        : machine_(machine), bucket_(bucket), is_eager_(is_eager), is_planned_(is_planned) {}

    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) override {
        const Faults& faults = machine_.faults;
        const Index horizon = options.horizon.value_or(bucket_.horizon);
        const Index samples = options.samples.value_or(bucket_.samples);
        values_.clear();
        for (Index row = 0; row < series.batch * series.variates; ++row) {
            const float last = series.values[static_cast<std::size_t>((row + 1) * series.steps - 1)];
            for (Index step = 0; step < horizon; ++step) {
                for (Index sample = 0; sample < std::max<Index>(1, samples); ++sample) {
                    const auto place = static_cast<double>(row + 3 * step + 7 * sample);
                    const float value = last + static_cast<float>(std::sin(place + static_cast<double>(options.seed)));
                    const Index variate = row % series.variates;
                    const bool is_right = is_eager_ || !faults.kernel || (faults.series != 0 && last <= faults.series);
                    values_.push_back(is_right ? value : faults.kernel(value, variate, step, sample));
                }
            }
        }
        const std::chrono::milliseconds eager(bucket_ == faults.slow ? 2000 : 10);
        const bool has_its_own = is_planned_ && faults.planned.count() > 0;
        machine_.now += is_eager_ ? eager : has_its_own ? faults.planned : faults.latency;
        ++machine_.forecasts;
        if (!is_eager_) {
            leaked_ += faults.leak;
            if (faults.on_forecast) {
                faults.on_forecast();
            }
        }
        return {values_, series.batch, series.variates, horizon, samples};
    }
    [[nodiscard]] std::size_t memory_bytes() const override {
        return 1'000'000 + (is_eager_ ? 0 : machine_.faults.more_memory) + leaked_;
    }

private:
    Machine& machine_;
    Bucket bucket_;
    bool is_eager_;
    bool is_planned_;
    std::size_t leaked_ = 0;
    std::vector<float> values_;
};

class FakeBackend final : public tg::serve::Backend {
public:
    explicit FakeBackend(Machine& machine, std::vector<Bucket> buckets = {small, large}, std::string name = "fake",
                         std::vector<Mode> modes = {Mode::eager, Mode::standard, Mode::max_autotune_no_cudagraphs,
                                                    Mode::max_autotune})
        : machine_(machine), buckets_(std::move(buckets)), name_(std::move(name)), modes_(std::move(modes)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::vector<Bucket> buckets() const override { return buckets_; }
    [[nodiscard]] std::string describe(Mode mode) const override {
        return std::find(modes_.begin(), modes_.end(), mode) == modes_.end() ? "" : "fakes forecasts";
    }
    [[nodiscard]] std::unique_ptr<tg::serve::BucketForecaster> make(const Bucket& bucket, Mode mode,
                                                                    const tg::serve::BackendResources&) const override {
        machine_.now += std::chrono::seconds(1);
        if (mode != Mode::eager && machine_.faults.on_make) {
            machine_.faults.on_make();
        }
        return std::make_unique<FakeForecaster>(machine_, bucket, mode == Mode::eager, mode == Mode::standard);
    }
    [[nodiscard]] tg::serve::Explanation explain(const Bucket& bucket, Mode mode) const override {
        tg::serve::Explanation explanation;
        explanation.backend = name();
        explanation.mode = tg::serve::name(mode);
        explanation.bucket = bucket;
        explanation.state_bytes = 600'000;
        explanation.arena_bytes = 400'000;
        explanation.shared_weight_bytes = 5'000'000;
        return explanation;
    }

private:
    Machine& machine_;
    std::vector<Bucket> buckets_;
    std::string name_;
    std::vector<Mode> modes_;
};

/// Waves of period 20 around 100, with gaps in the third of five columns; the last is blank at first.
inline tg::serve::StressData waves() {
    tg::serve::StressData data{"waves", {}};
    for (int column = 0; column < 5; ++column) {
        data.table.names.push_back(std::string(1, static_cast<char>('a' + column)));
        std::vector<double> values;
        for (int row = 0; row < 400; ++row) {
            const bool is_gap = (column == 2 && row % 7 == 0) || (column == 4 && row < 200);
            values.push_back(is_gap ? std::numeric_limits<double>::quiet_NaN()
                                    : 100.0 + 10.0 * std::sin(row * 0.314 + column));
        }
        data.table.columns.push_back(values);
    }
    return data;
}

/// A stress run of a service in mode `default` on this machine.
inline tg::serve::StressReport run(Machine& machine, tg::serve::StressOptions options = {},
                                   const std::function<void(tg::serve::ForecastService&)>& prepare = {}) {
    tg::serve::BackendRegistry registry;
    registry.add(std::make_shared<FakeBackend>(machine));
    tg::serve::ForecastService tested(registry, {.mode = Mode::standard});
    tg::serve::ForecastService baseline(registry, {.mode = Mode::eager});
    if (!options.probes.device_memory) {
        options.probes = machine.probes();
    }
    if (prepare) {
        prepare(tested);
    }
    return tg::serve::stress(tested, baseline, options, {waves()});
}

}  // namespace stress_fakes
