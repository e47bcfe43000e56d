// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/service.hpp>

// Backends that compute nothing and remember what they were asked.

namespace service_fakes {

namespace tg = totograph;
namespace serve = totograph::serve;
using serve::Mode;
using tg::Bucket;
using tg::Index;

/// What a forecaster was made for.
struct Made {
    Bucket bucket;
    Mode mode;
    int threads;
};

/// Foresees one number for everything; a request with this seed it refuses.
inline constexpr std::uint64_t refused_seed = 666;
/// With this seed two values stand in place of what was no finite number.
inline constexpr std::uint64_t not_finite_seed = 667;
/// What it claims to hold.
inline constexpr std::size_t fake_bytes = 1000;

class FakeForecaster final : public serve::BucketForecaster {
public:
    FakeForecaster(const tg::ForecastPlan& plan, float value, Index captures, bool fails_to_tell, std::size_t grows)
        : plan_(plan),
          values_(plan.result_size(), value),
          captures_(captures),
          fails_to_tell_(fails_to_tell),
          grows_(grows) {}

    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) override {
        return tg::forecast_in_parts(
            series, options, plan_, parts_,
            [this](const tg::Series&, const Bucket& request, std::uint64_t seed, std::uint32_t) -> tg::Forecast {
                if (seed == refused_seed) {
                    throw tg::Error(tg::ErrorCode::invalid_series, "The fake refuses this seed.");
                }
                bytes_ += std::exchange(grows_, 0);
                return {values_,         request.batch,   request.variates,
                        request.horizon, request.samples, seed == not_finite_seed ? 2 : 0,
                        plan_.levels};
            });
    }
    [[nodiscard]] std::size_t memory_bytes() const override {
        if (fails_to_tell_) {
            throw tg::Error(tg::ErrorCode::device_failure, "The fake cannot ask its device.");
        }
        return bytes_;
    }
    [[nodiscard]] Index captures() const override { return captures_; }
    [[nodiscard]] Index replays() const noexcept override { return captures_; }

private:
    tg::ForecastPlan plan_;
    std::vector<float> values_;
    Index captures_;
    bool fails_to_tell_;
    std::size_t grows_;
    std::size_t bytes_ = fake_bytes;
    tg::PartsMemory parts_;
};

/// Its forecasts are `number` plus the mode's place in the enumeration, over ten: they tell who made them.
class FakeBackend final : public serve::Backend {
public:
    FakeBackend(std::string name, float number, std::vector<Bucket> buckets)
        : name_(std::move(name)), number_(number), buckets_(std::move(buckets)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::vector<Bucket> buckets() const override { return buckets_; }
    [[nodiscard]] std::string_view precision() const override { return computes_in; }
    [[nodiscard]] std::string describe(Mode mode) const override {
        return std::find(modes.begin(), modes.end(), mode) == modes.end() ? "" : "a fake";
    }
    [[nodiscard]] std::string unavailable(const serve::BackendResources&) const override { return reason; }

    [[nodiscard]] std::unique_ptr<serve::BucketForecaster> make(
        const Bucket& bucket, Mode mode, const serve::BackendResources& resources) const override {
        if (fails_at && bucket == *fails_at) {
            throw tg::Error(tg::ErrorCode::out_of_memory, "The fake has no memory for this bucket.");
        }
        if (makes_nothing) {
            return nullptr;
        }
        if (mode != Mode::eager) {
            ++tries;
        }
        if (fails_in && mode == *fails_in) {
            throw tg::Error(tg::ErrorCode::device_failure, "The fake cannot capture.");
        }
        if (waits_for && mode != Mode::eager) {
            waits_for->wait(false);
        }
        const std::scoped_lock lock(mutex);
        made.push_back({bucket, mode, resources.threads});
        pools.push_back(resources.pools);
        return std::make_unique<FakeForecaster>(plan(bucket), value_of(mode), mode == Mode::eager ? 0 : 2,
                                                fails_to_tell, grows);
    }
    [[nodiscard]] tg::ForecastPlan plan(const Bucket& bucket) const override {
        return tg::ForecastPlan::of(bucket, patch_size, levels);
    }
    [[nodiscard]] serve::Explanation explain(const Bucket& bucket, Mode mode) const override {
        serve::Explanation explanation;
        explanation.backend = name_;
        explanation.mode = serve::name(mode);
        explanation.bucket = bucket;
        return explanation;
    }

    /// What a forecast of a mode says.
    [[nodiscard]] float value_of(Mode mode) const { return number_ + static_cast<float>(mode) / 10; }
    [[nodiscard]] std::size_t count(Mode mode) const {
        const auto is_of_mode = [&](const Made& one) { return one.mode == mode; };
        return static_cast<std::size_t>(std::count_if(made.begin(), made.end(), is_of_mode));
    }

    // Public: tests set them up and look into them.
    std::vector<Mode> modes{serve::all_modes.begin(), serve::all_modes.end()};
    std::string reason;
    std::string computes_in;
    std::optional<Bucket> fails_at;
    bool makes_nothing = false;
    std::optional<Mode> fails_in;
    mutable std::atomic<int> tries{0};             ///< To make something for another mode than eager.
    std::shared_ptr<std::atomic<bool>> waits_for;  ///< Makes nothing but for mode eager before this is set.
    bool fails_to_tell = false;                    ///< How many bytes a forecaster holds.
    std::size_t grows = 0;                         ///< Bytes that a forecaster takes with its first forecast.
    Index patch_size = 1;
    std::span<const double> levels{};  ///< Of quantiles, in place of the mean.
    mutable std::mutex mutex;
    mutable std::vector<Made> made;
    mutable std::vector<std::shared_ptr<tg::cpu::ThreadPools>> pools;

private:
    std::string name_;
    float number_;
    std::vector<Bucket> buckets_;
};

inline constexpr Bucket small{.variates = 2, .context = 16, .horizon = 8};
inline constexpr Bucket large{.batch = 8, .variates = 2, .context = 64, .horizon = 8};
inline constexpr Bucket sampled{.batch = 8, .variates = 2, .context = 64, .horizon = 8, .samples = 4};

/// A request that owns what its series views: ones.
struct Ones {
    Index batch = 1;
    Index variates = 1;
    Index steps = 1;
    std::vector<float> values = std::vector<float>(static_cast<std::size_t>(batch * variates * steps), 1.0F);

    [[nodiscard]] tg::Series series() const {
        return {.batch = batch, .variates = variates, .steps = steps, .values = values};
    }
};

/// The counts of a backend, bucket and mode; none of them when nothing was counted.
inline serve::Snapshot::Entry entry_of(const serve::Snapshot& snapshot, std::string_view backend, const Bucket& bucket,
                                       Mode mode) {
    for (const serve::Snapshot::Entry& entry : snapshot.entries) {
        if (entry.backend == backend && entry.bucket == bucket && entry.mode == mode) {
            return entry;
        }
    }
    return {};
}

inline std::shared_ptr<FakeBackend> fake(std::string name, float number, std::vector<Bucket> buckets) {
    return std::make_shared<FakeBackend>(std::move(name), number, std::move(buckets));
}

/// Two backends with the same buckets: `near` says 1, `far` says 2.
struct TwoBackends {
    std::shared_ptr<FakeBackend> near = fake("near", 1, {small, large});
    std::shared_ptr<FakeBackend> far = fake("far", 2, {small, large});
    serve::BackendRegistry registry;

    TwoBackends() {
        registry.add(near);
        registry.add(far);
    }
};

/// What a request of so many series, for the mean, is answered with.
inline float ask(serve::ForecastService& service, Index batch, Index steps = 8) {
    const Ones request{.batch = batch, .variates = 1, .steps = steps};
    return service.forecast(request.series(), {.samples = 0}).mean().front();
}

/// A service of one fake backend, `fake`, in mode `default`.
struct OneBackend {
    std::shared_ptr<FakeBackend> fake =
        std::make_shared<FakeBackend>("fake", 1.0F, std::vector<Bucket>{small, large, sampled});
    serve::BackendRegistry registry = [this] {
        serve::BackendRegistry backends;
        backends.add(fake);
        return backends;
    }();
    serve::ForecastService service{registry, {.mode = Mode::standard}};

    [[nodiscard]] serve::Snapshot::Entry entry(const Bucket& bucket, Mode mode = Mode::standard) const {
        return entry_of(service.snapshot(), "fake", bucket, mode);
    }
    float ask(Index batch, Index steps = 8) { return service_fakes::ask(service, batch, steps); }
};

}  // namespace service_fakes
