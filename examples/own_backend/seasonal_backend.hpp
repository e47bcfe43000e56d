// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend.hpp>

namespace examples {

/// Repeats the past: sampled future `k` of a step is what was observed `k + 1` seasons before it, over again from the
/// newest season when there are fewer seasons than samples. It does not look at gaps.
class SeasonalForecaster final : public totograph::serve::BucketForecaster {
public:
    using Index = totograph::Index;

    SeasonalForecaster(const totograph::Bucket& bucket, Index season)
        : bucket_(bucket),
          season_(season),
          result_(static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.horizon * bucket.samples)) {}

    totograph::Forecast forecast(const totograph::Series& series, const totograph::ForecastOptions& options) override {
        // The same checks, with the same sentences, and the same parts as those of the library's own forecasters. There
        // are no patches here: one step is one.
        return totograph::forecast_in_parts(
            series, options, totograph::ForecastPlan::of(bucket_), parts_,
            [this](const totograph::Series& part, const totograph::Bucket& request, std::uint64_t,
                   std::uint32_t first) { return repeat_seasons(part, request, static_cast<Index>(first)); });
    }

    [[nodiscard]] std::size_t memory_bytes() const override { return result_.size() * sizeof(float) + parts_.bytes(); }

private:
    /// A request that was checked and fits; its samples are numbered from `first` on.
    totograph::Forecast repeat_seasons(const totograph::Series& series, const totograph::Bucket& request, Index first) {
        const Index seasons = series.steps / season_;
        if (seasons < 1) {
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   "seasonal: a history of " + std::to_string(series.steps) +
                                       " steps has no whole season of " + std::to_string(season_) +
                                       "; give a longer one.");
        }
        std::size_t to = 0;
        for (Index row = 0; row < request.batch * request.variates; ++row) {
            for (Index step = 0; step < request.horizon; ++step) {
                for (Index sample = 0; sample < request.samples; ++sample) {
                    const Index back = (1 + (first + sample) % seasons) * season_ - step % season_;
                    const Index at = series.row_begin(row) + series.steps - back;
                    result_[to++] = series.values[static_cast<std::size_t>(at)];
                }
            }
        }
        return {{result_.data(), to}, request.batch, request.variates, request.horizon, request.samples};
    }

    totograph::Bucket bucket_;
    Index season_;
    std::vector<float> result_;
    totograph::PartsMemory parts_;
};

/// An executor of one's own: it says what it is called, which buckets and modes it has, and makes forecasters.
class SeasonalBackend final : public totograph::serve::Backend {
public:
    SeasonalBackend(std::vector<totograph::Bucket> buckets, totograph::Index season)
        : buckets_(std::move(buckets)), season_(season) {}

    [[nodiscard]] std::string_view name() const override { return "seasonal"; }
    [[nodiscard]] std::vector<totograph::Bucket> buckets() const override { return buckets_; }

    /// There is one way to copy numbers, which is as good as any in the modes that tune nothing.
    [[nodiscard]] std::string describe(totograph::serve::Mode mode) const override {
        using totograph::serve::Mode;
        return mode == Mode::eager || mode == Mode::standard
                   ? "repeats seasons of " + std::to_string(season_) + " steps"
                   : std::string();
    }

    /// A service asks for buckets and modes that are listed above, and for no others.
    [[nodiscard]] std::unique_ptr<totograph::serve::BucketForecaster> make(
        const totograph::Bucket& bucket, totograph::serve::Mode,
        const totograph::serve::BackendResources&) const override {
        return std::make_unique<SeasonalForecaster>(bucket, season_);
    }

    [[nodiscard]] totograph::serve::Explanation explain(const totograph::Bucket& bucket,
                                                        totograph::serve::Mode mode) const override {
        totograph::serve::Explanation explanation;
        explanation.backend = name();
        explanation.mode = totograph::serve::name(mode);
        explanation.bucket = bucket;
        explanation.state_bytes = SeasonalForecaster(bucket, season_).memory_bytes();
        return explanation;
    }

private:
    std::vector<totograph::Bucket> buckets_;
    totograph::Index season_;
};

}  // namespace examples
