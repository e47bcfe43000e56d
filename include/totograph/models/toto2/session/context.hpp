// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/models/toto2/inference.hpp>
#include <totograph/models/toto2/session/options.hpp>
#include <totograph/models/toto2/session/window.hpp>
#include <totograph/models/toto2/states.hpp>

namespace totograph::toto2 {

/// What a session's programs cost and can hold.
struct SessionSizes {
    Bucket bucket;
    ForecastSizes sizes;
    Index tokens_ahead;      ///< Of a variate, in a pass over the whole window, behind that.
    Index continued_tokens;  ///< And all of them in one over a new patch.
};

/// The part of a session that runs no program: it holds the steps of the context, and knows which patches the states
/// hold, and whether these can be continued. Allocates nothing after it was made.
class SessionContext {
public:
    /// Throws `Error` (`invalid_argument`) for options that make no sense.
    SessionContext(const SessionSizes& sizes, const Inference& inference, const SessionOptions& options)
        : sizes_(sizes),
          inference_(inference),
          kept_(options.kept_patches == 0 ? std::max<Index>(1, most_patches() * 3 / 4) : options.kept_patches),
          window_(sizes.bucket.batch * sizes.bucket.variates, most_patches(), sizes.sizes.patch_size),
          groups_(static_cast<std::size_t>(sizes.bucket.batch * sizes.bucket.variates)),
          stable_observed_(groups_.size()) {
        if (kept_ < 1 || kept_ >= most_patches()) {
            throw Error(ErrorCode::invalid_argument, "A session cannot keep " + std::to_string(kept_) +
                                                         " patches of its context (kept_patches): it has room for " +
                                                         std::to_string(most_patches()) +
                                                         ", and must keep at least 1 and fewer than that.");
        }
    }

    void clear() noexcept {
        window_.clear();
        rows_ = Series{.batch = 0, .variates = 0};
        has_states_ = false;
        reason_.reset();
    }

    /// Forgets the context and takes the newest steps of a history, of which the last one ends a patch.
    void start(const Series& history) {
        check(history);
        clear();
        const Index most = most_patches() * sizes_.sizes.patch_size;
        add(history.steps > most ? history.newest(most) : history);
        window_.align();
    }

    void append(const Series& steps) {
        check(steps);
        if (rows_.batch > 0) {
            check_same(steps);
        }
        add(steps);
    }

    /// How many steps are to be forecast. Throws `Error` for what is not compiled.
    [[nodiscard]] Index horizon(const SessionForecastOptions& options) const {
        const Index horizon = options.horizon.value_or(sizes_.bucket.horizon);
        if (horizon < 1 || horizon > sizes_.bucket.horizon) {
            throw Error(horizon < 1 ? ErrorCode::invalid_argument : ErrorCode::no_bucket,
                        "Session::forecast: the horizon should be 1 to " + std::to_string(sizes_.bucket.horizon) +
                            " steps, as many as were compiled for, found " + std::to_string(horizon) + ".");
        }
        return horizon;
    }

    /// Checks that a forecast can be made of the whole patches, and says what it is a forecast of. Throws `Error`.
    [[nodiscard]] Bucket request(const SessionForecastOptions& options) const {
        Bucket request = sizes_.bucket;
        request.batch = rows_.batch;
        request.variates = rows_.variates;
        request.horizon = horizon(options);
        const bool leaves_out = options.pending == Pending::leave_out;
        const Index patches = window_.patches();
        if (patches == 0) {
            throw Error(ErrorCode::invalid_series,
                        "Session::forecast: there is no whole patch of " + std::to_string(sizes_.sizes.patch_size) +
                            " steps yet, but " + std::to_string(window_.steps()) + "; append more" +
                            (leaves_out && window_.steps() > 0 ? ", or forecast from the pending ones." : "."));
        }
        for (Index row = 0; row < rows_.rows(); ++row) {
            if (!window_.has_observed(row, patches)) {
                throw Error(ErrorCode::invalid_series,
                            "Session::forecast: series " + std::to_string(row / rows_.variates) + ", variate " +
                                std::to_string(row % rows_.variates) +
                                " has no observed value in the context of the session; leave it out.");
            }
        }
        return request;
    }

    /// Makes the newest step end a patch.
    void end_patch() noexcept {
        if (window_.pending() > 0) {
            const Index most = most_patches() * sizes_.sizes.patch_size;
            if (window_.steps() > most) {
                window_.keep_newest(rows_.rows(), most);
            }
            window_.align();
            forget_states(Recomputation::pending);
        }
    }

    /// Whether the whole window has to be computed before anything else. Counts and tells it.
    [[nodiscard]] bool must_compute_window() {
        if (has_states_ && new_patches() > 0) {
            if (new_patches() * sizes_.continued_tokens > window_.patches() + sizes_.tokens_ahead) {
                forget_states(Recomputation::many_patches);
            } else if (has_few_observations()) {
                forget_states(Recomputation::few_observations);
            }
        }
        if (!has_states_ && reason_) {
            ++counts_[static_cast<std::size_t>(*reason_)];
            log(LogTopic::sizes, [&] {
                return "a session computes its window of " + std::to_string(window_.patches()) +
                       " patches again, for " + std::string(name(*reason_)) + " (" + std::to_string(recomputations()) +
                       " times so far)";
            });
        }
        return !has_states_;
    }

    /// The whole patches as a series.
    [[nodiscard]] Series whole() const noexcept {
        Series series = window_.series(rows_, window_.patches());
        series.groups = {groups_.data(), static_cast<std::size_t>(rows_.rows())};
        return series;
    }
    /// The states are those of the window: all its patches are stable but the newest.
    void has_computed_window() noexcept {
        has_states_ = true;
        reason_.reset();
        stable_ = window_.patches() - 1;
        std::fill(stable_observed_.begin(), stable_observed_.end(), Index{0});
        count_stable();
    }

    /// Patches that the states do not know.
    [[nodiscard]] Index new_patches() const noexcept { return window_.patches() - 1 - stable_; }
    /// Writes the patch that is to become stable and the one behind it to the input states.
    void fill_newest(const StateMemory& memory) noexcept {
        const ForecastSizes& to = sizes_.sizes;
        float* const values = memory.floats(states::newest);
        float* const observed = memory.floats(states::newest_observed);
        const Index size = 2 * to.patch_size;
        std::fill_n(values, to.batch * to.variates * size, 0.0F);
        std::fill_n(observed, to.batch * to.variates * size, 0.0F);
        for (Index row = 0; row < rows_.rows(); ++row) {
            const Index place = (row / rows_.variates * to.variates + row % rows_.variates) * size;
            window_.copy_patches(row, stable_, 2, inference_.imputation, values + place, observed + place);
        }
    }
    /// One more patch is stable.
    void has_continued() noexcept {
        ++stable_;
        count_stable();
    }

    [[nodiscard]] Index context() const noexcept { return window_.steps_of(window_.patches()); }
    [[nodiscard]] Index pending() const noexcept { return window_.pending(); }
    [[nodiscard]] Index recomputations(Recomputation reason) const noexcept {
        return counts_[static_cast<std::size_t>(reason)];
    }
    [[nodiscard]] Index recomputations() const noexcept {
        Index all = 0;
        for (const Index count : counts_) {
            all += count;
        }
        return all;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return window_.bytes(); }

private:
    [[nodiscard]] Index most_patches() const noexcept { return sizes_.sizes.context_patches; }

    void forget_states(Recomputation reason) noexcept {
        if (has_states_) {
            has_states_ = false;
            reason_ = reason;
        }
    }

    /// Steps that were checked.
    void add(const Series& steps) noexcept {
        if (rows_.batch == 0) {
            rows_.batch = steps.batch;
            rows_.variates = steps.variates;
            std::fill(groups_.begin(), groups_.end(), 0);
            std::copy(steps.groups.begin(), steps.groups.end(), groups_.begin());
        }
        for (Index done = 0; done < steps.steps;) {
            const Index left = window_.to_patch_end();
            const Index count = std::min(left, steps.steps - done);
            if (count == left && window_.is_full()) {
                window_.keep_newest(rows_.rows(), kept_ * sizes_.sizes.patch_size + window_.pending());
                forget_states(Recomputation::capacity);
            }
            window_.append(steps, done, count);
            done += count;
        }
    }

    /// Counts observations of each row up to those that decide its scale.
    void count_stable() noexcept {
        const Index enough = inference_.scaler_fallback_min_obs;
        for (Index row = 0; row < rows_.rows(); ++row) {
            Index& count = stable_observed_[static_cast<std::size_t>(row)];
            count = count < enough ? window_.count_observed(row, stable_, enough) : count;
        }
    }
    /// Patches of a row with few observations have the scale of the first of all its observations, stable or not:
    /// whether a run finds such ones stable, of those that the new patches need.
    [[nodiscard]] bool has_few_observations() const noexcept {
        const Index enough = inference_.scaler_fallback_min_obs;
        const auto is_few = [&](Index count) { return count > 0 && count < enough; };
        for (Index row = 0; row < rows_.rows(); ++row) {
            const Index known = stable_observed_[static_cast<std::size_t>(row)];
            for (Index patches = stable_; known < enough && patches < window_.patches() - 1; ++patches) {
                if (is_few(window_.count_observed(row, patches, enough))) {
                    return true;
                }
            }
        }
        return false;
    }

    void check(const Series& series) const {
        if (series.steps < 1) {
            throw Error(ErrorCode::invalid_series, "A session was given no step; give it at least one.");
        }
        Bucket request = sizes_.bucket;
        request.horizon = 1;
        forecast_detail::check_sizes(series, request);
        forecast_detail::check_rows("values", series.values.size(), series);
        if (!series.observed.empty()) {
            forecast_detail::check_rows("observed", series.observed.size(), series);
        }
        if (series.batch > sizes_.bucket.batch || series.variates > sizes_.bucket.variates) {
            throw Error(ErrorCode::no_bucket, "A session of the compiled size " + to_string(sizes_.bucket) +
                                                  " cannot take " + std::to_string(series.batch) + " series of " +
                                                  std::to_string(series.variates) + " variates.");
        }
        if (series.has_groups_by_step() || !series.future_exogenous.empty()) {
            throw Error(ErrorCode::invalid_argument,
                        std::string("A session takes ") + (series.future_exogenous.empty()
                                                               ? "one group id for each variate, [batch, variates]."
                                                               : "no known future of exogenous variates."));
        }
        check_groups(series, sizes_.sizes.patch_size, series.steps);
        for (Index row = 0; row < series.rows(); ++row) {
            check_observed(series, row);
        }
    }

    static void check_observed(const Series& series, Index row) {
        const auto first = static_cast<std::size_t>(series.row_begin(row));
        for (std::size_t at = first; at < first + static_cast<std::size_t>(series.steps); ++at) {
            if (!std::isfinite(series.values[at]) && (series.observed.empty() || series.observed[at] != 0)) {
                throw Error(ErrorCode::invalid_series,
                            "A session was given NaN or infinity in " +
                                forecast_detail::place(row / series.variates, row % series.variates,
                                                       static_cast<Index>(at - first)) +
                                "; mark gaps as not observed instead (Series::observed).");
            }
        }
    }

    /// Of steps that follow others.
    void check_same(const Series& series) const {
        if (series.batch != rows_.batch || series.variates != rows_.variates) {
            throw Error(ErrorCode::invalid_argument,
                        "A session that began with " + std::to_string(rows_.batch) + " series of " +
                            std::to_string(rows_.variates) + " variates was given " + std::to_string(series.batch) +
                            " of " + std::to_string(series.variates) + "; start another one for these.");
        }
        if (!std::equal(series.groups.begin(), series.groups.end(), groups_.begin())) {
            throw Error(ErrorCode::invalid_argument,
                        "The group ids of a session stay what they were at its start; start again with other ones.");
        }
    }

    SessionSizes sizes_;
    Inference inference_;
    Index kept_;
    SessionWindow window_;
    Series rows_{.batch = 0, .variates = 0};  ///< How many series and variates there are; none before the first steps.
    std::vector<std::int32_t> groups_;
    std::vector<Index> stable_observed_;   ///< Observations of each row in stable patches, up to those that suffice.
    Index stable_ = 0;                     ///< Patches whose states are there and stay.
    bool has_states_ = false;              ///< Whether there are states that can be continued.
    std::optional<Recomputation> reason_;  ///< Why there are none any more.
    std::array<Index, recomputation_count> counts_{};
};

}  // namespace totograph::toto2
