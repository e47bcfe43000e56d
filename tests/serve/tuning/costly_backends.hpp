// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/tuning/tuned_threads.hpp>

// Backends whose time is made up.

namespace costly_backends {

namespace tg = totograph;
namespace serve = tg::serve;
using serve::Mode;
using std::chrono::milliseconds;
using tg::Bucket;
using tg::Index;

/// A clock that forecasts alone move on, and how many there were.
struct World {
    std::chrono::nanoseconds now{0};
    int forecasts = 0;
    bool sleeps = false;           ///< For whoever looks at another clock.
    std::function<void()> amid{};  ///< Called in each forecast.
};

/// Takes `fixed`, and `each` for a series; a forecaster's first forecast takes `cold` more.
struct Cost {
    milliseconds fixed{0};
    milliseconds each{0};
    milliseconds cold{0};
};

class CostlyForecaster final : public serve::BucketForecaster {
public:
    CostlyForecaster(World& world, Cost cost) : world_(world), cost_(cost) {}
    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) override {
        const milliseconds taken = cost_.fixed + cost_.each * series.batch + std::exchange(cost_.cold, milliseconds{0});
        world_.now += taken;
        ++world_.forecasts;
        if (world_.amid) {
            world_.amid();
        }
        if (world_.sleeps) {
            std::this_thread::sleep_for(taken);
        }
        values_.assign(static_cast<std::size_t>(series.batch * series.variates * *options.horizon), 0.0F);
        return {values_, series.batch, series.variates, *options.horizon, 0};
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return 0; }

private:
    World& world_;
    Cost cost_;
    std::vector<float> values_;
};

class CostlyBackend final : public serve::Backend {
public:
    CostlyBackend(World& world, std::string name, Cost cost, std::vector<Bucket> buckets)
        : world_(world), name_(std::move(name)), cost_(cost), buckets_(std::move(buckets)) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::vector<Bucket> buckets() const override { return buckets_; }
    [[nodiscard]] std::string describe(Mode) const override { return "takes time"; }
    [[nodiscard]] std::string runs_on(const serve::BackendResources&) const override { return device; }
    [[nodiscard]] std::unique_ptr<serve::BucketForecaster> make(const Bucket&, Mode,
                                                                const serve::BackendResources&) const override {
        const std::scoped_lock turn(serve::detail::tuning_turn());  // as one does that tunes threads
        return std::make_unique<CostlyForecaster>(world_, cost_);
    }
    [[nodiscard]] serve::Explanation explain(const Bucket&, Mode) const override {
        serve::Explanation explanation;
        explanation.programs.emplace_back().flops = flops;
        return explanation;
    }

    std::string device = "a card";
    Index flops = 1;

private:
    World& world_;
    std::string name_;
    Cost cost_;
    std::vector<Bucket> buckets_;
};

}  // namespace costly_backends
