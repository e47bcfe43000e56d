// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecaster.hpp>
#include <totograph/forecast/forecaster_options.hpp>
#include <totograph/forecast/results/quantile_forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/inference.hpp>
#include <totograph/models/toto2/session/context.hpp>
#include <totograph/models/toto2/session/model.hpp>
#include <totograph/models/toto2/session/options.hpp>

namespace totograph::toto2 {

/// A context that grows at its end, of series that are observed together: what the model has computed of it is kept, so
/// that a new patch costs its own work and that of what is forecast, and not that of the context.
///
///     toto2::Session<toto2::toto2_22m, bucket> session(weights);
///     session.start({.steps = 512, .values = history});
///     session.append(newest);                                      // values of one variate; a Series of more
///     const auto forecast = session.forecast({.horizon = 96});     // the steps after the newest
///
/// A forecast is, to rounding, that of a `Forecaster` of the same steps, whatever was missing in them. The context's
/// start stays: patches are counted from there, and the bucket's context is how much there is room for. The whole
/// window is computed again, which costs as much as a `Forecaster`, for the reasons that `Recomputation` lists; the log
/// topic `sizes` tells of each, and `recomputations` counts them.
///
/// One thread at a time may use a session. Nothing is allocated after it was made.
///
/// @tparam options  where it runs, as of `Forecaster`
template <Toto2Model Model, Bucket bucket, auto options = ForecasterOptions{}>
class Session
    : public RunnerOf<std::remove_cvref_t<decltype(options)>>::template Runner<Continued<Model>, bucket, options> {
    using Runner =
        typename RunnerOf<std::remove_cvref_t<decltype(options)>>::template Runner<Continued<Model>, bucket, options>;
    using Parts = toto2::Parts<Continued<Model>, bucket>;

public:
    using Resources = typename Runner::Resources;

    /// Prepares the weights (once for all that share them) and all memory. Throws `Error` when the resources or the
    /// options make no sense (`invalid_argument`) or are not there.
    explicit Session(const WeightsOf<Model>& weights, const Resources& resources = {},
                     const SessionOptions& session_options = {})
        : Runner(weights.weights, resources),
          context_({.bucket = bucket,
                    .sizes = Parts::sizes,
                    .tokens_ahead = Parts::first_tokens - Parts::sizes.context_patches,
                    .continued_tokens = Parts::continued_tokens},
                   Parts::inference, session_options) {}

    /// Forgets everything and begins with a history, of which the newest steps are used that there is room for. Patches
    /// are counted so that its last step ends one. A variate keeps its group. Throws `Error` for a series that is
    /// malformed, or has more rows than the bucket; then nothing has changed.
    void start(const Series& history) {
        this->require_memory();
        context_.start(history);
    }

    /// Adds steps of the same series and variates; a first one that no `start` came before begins a patch. Computes
    /// nothing yet. Throws `Error` as `start` does.
    void append(const Series& steps) {
        this->require_memory();
        context_.append(steps);
    }
    /// The same of one variate without gaps.
    void append(std::span<const float> values) {
        append(Series{.steps = static_cast<Index>(values.size()), .values = values});
    }

    /// Forgets everything.
    void reset() noexcept { context_.clear(); }

    /// Forecasts the steps after the newest one. The result is a view of this session's memory, valid until its next
    /// forecast. Without new steps it is that of the last time, and costs nothing. Throws `Error` when there is no
    /// whole patch or a variate has no observation (`invalid_series`), or the horizon is not one to forecast.
    QuantileForecast forecast(const SessionForecastOptions& forecast_options = {}) {
        [[maybe_unused]] const auto scope = this->begin();
        static_cast<void>(context_.horizon(forecast_options));  // before anything changes
        if (forecast_options.pending == Pending::recompute) {
            context_.end_patch();
        }
        const Bucket request = context_.request(forecast_options);
        if (context_.must_compute_window()) {
            this->template run_on<0>([&](const StateMemory& memory) {
                // More steps of the same forecast may be asked for later.
                Bucket whole = request;
                whole.horizon = bucket.horizon;
                Runner::plan.fill(memory, Runner::plan.sizes, context_.whole(), whole, 0, 0);
            });
            context_.has_computed_window();
        }
        while (context_.new_patches() > 0) {
            this->template run_on<1>([&](const StateMemory& memory) { context_.fill_newest(memory); });
            context_.has_continued();
        }
        return QuantileForecast(this->collect(request)).with_context(context_.context());
    }

    /// Steps in whole patches, of which forecasts are made.
    [[nodiscard]] Index context() const noexcept { return context_.context(); }
    /// The newest steps, which do not fill a patch yet.
    [[nodiscard]] Index pending() const noexcept { return context_.pending(); }
    /// How often a window was computed again, but for those that a start asked for.
    [[nodiscard]] Index recomputations() const noexcept { return context_.recomputations(); }
    [[nodiscard]] Index recomputations(Recomputation reason) const noexcept { return context_.recomputations(reason); }

    /// Bytes that this session holds beside the shared weights.
    [[nodiscard]] std::size_t memory_bytes() const { return this->runner_bytes() + context_.bytes(); }

private:
    SessionContext context_;
};

}  // namespace totograph::toto2
