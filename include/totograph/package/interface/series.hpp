// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>

// Requests of C callers as the library has them.
namespace totograph::package {

using Strides = std::array<Index, 3>;

/// A series that a caller described by pointers and strides, as a `Series`. What lies in rows of touching steps that
/// are equally far apart is read in place; all else is copied into this object.
class SeriesOfCaller {
public:
    /// Throws `Error`: `invalid_argument` for sizes that no memory has, and for a known future of no steps or of no
    /// variate.
    /// @param values  those on a device are not read, and the series has none
    explicit SeriesOfCaller(const totograph_series& given, ValuesOn values = ValuesOn::host) {
        series_.batch = given.batch;
        series_.variates = given.variates;
        series_.steps = given.steps;
        series_.exogenous = given.exogenous;
        series_.first_series = given.first_series;
        const bool is_empty = given.batch < 1 || given.variates < 1 || given.steps < 1;
        if (is_empty) {
            return;  // whoever checks the series says so
        }
        require_countable(given);
        if (given.values == nullptr) {
            throw Error(ErrorCode::invalid_argument, "The values of a series are NULL; pass its observations.");
        }
        if (values == ValuesOn::host) {
            take_values(given);
        } else if (given.observed != nullptr) {
            take_observed(given);
        }
        const auto rows = static_cast<std::size_t>(given.batch * given.variates);
        if (given.groups != nullptr) {
            series_.groups = {given.groups, rows};
        }
        if (given.future_exogenous != nullptr && given.exogenous == 0 && given.future_steps > 0) {
            throw Error(ErrorCode::invalid_argument,
                        "The known future of a series (future_exogenous) has " + std::to_string(given.future_steps) +
                            " steps of no variate; say in exogenous of how many of the last variates it is, or pass "
                            "NULL where none is known.");
        }
        if (given.future_exogenous != nullptr && given.exogenous > 0) {
            require_future_steps(given);
            const auto known = static_cast<std::size_t>(given.batch * given.exogenous * given.future_steps);
            series_.future_exogenous = {given.future_exogenous, known};
            series_.future_steps = given.future_steps;
            if (given.future_observed != nullptr) {
                series_.future_observed = {given.future_observed, known};
            }
        }
    }
    SeriesOfCaller(const SeriesOfCaller&) = delete;
    SeriesOfCaller& operator=(const SeriesOfCaller&) = delete;
    ~SeriesOfCaller() = default;

    [[nodiscard]] const Series& series() const noexcept { return series_; }
    /// Whether the values are read where the caller has them.
    [[nodiscard]] bool is_in_place() const noexcept { return copied_values_.empty(); }

    /// Throws `Error(invalid_argument)` for a known future that is of no step: it would be left out in silence.
    static void require_future_steps(const totograph_series& given) {
        if (given.future_steps < 1) {
            throw Error(ErrorCode::invalid_argument,
                        "The known future of a series (future_exogenous) has " + std::to_string(given.future_steps) +
                            " steps; say in future_steps how many it has, the horizon or more, or pass NULL where it "
                            "is not known.");
        }
    }

    /// Throws `Error(invalid_argument)` for sizes that no memory has. None of them is below 1.
    static void require_countable(const totograph_series& given) {
        constexpr Index most = Index{1} << 40;
        const bool fits = given.batch <= most && given.variates <= most / given.batch &&
                          given.steps <= most / (given.batch * given.variates) && given.exogenous <= given.variates &&
                          given.future_steps <= most / (given.batch * given.variates);
        if (!fits) {
            throw Error(ErrorCode::invalid_argument,
                        "A series of " + std::to_string(given.batch) + " x " + std::to_string(given.variates) + " x " +
                            std::to_string(given.steps) + " values with " + std::to_string(given.exogenous) +
                            " exogenous variates known for " + std::to_string(given.future_steps) +
                            " steps cannot be; check its sizes.");
        }
    }

private:
    static Strides strides_of(const std::int64_t (&given)[3], const Series& series) {
        const bool is_row_major = given[0] == 0 && given[1] == 0 && given[2] == 0;
        return is_row_major ? Strides{series.variates * series.steps, series.steps, 1}
                            : Strides{given[0], given[1], given[2]};
    }

    /// Whether a `Series` can say where these elements lie.
    static bool is_rows(const Strides& strides, const Series& series) {
        return (strides[2] == 1 || series.steps == 1) &&
               (series.rows() == 1 || strides[1] >= series.steps || series.variates == 1) &&
               (series.batch == 1 || (strides[0] == series.variates * strides[1] && series.variates > 1) ||
                (series.variates == 1 && strides[0] >= series.steps));
    }
    static Index row_stride(const Strides& strides, const Series& series) {
        return series.rows() == 1 ? series.steps : series.variates == 1 ? strides[0] : strides[1];
    }

    template <class Element>
    static std::vector<Element> copied(const Element* from, const Strides& strides, const Series& series) {
        std::vector<Element> result;
        result.reserve(static_cast<std::size_t>(series.rows() * series.steps));
        for (Index batch = 0; batch < series.batch; ++batch) {
            for (Index variate = 0; variate < series.variates; ++variate) {
                const Element* const row = from + batch * strides[0] + variate * strides[1];
                for (Index step = 0; step < series.steps; ++step) {
                    result.push_back(row[step * strides[2]]);
                }
            }
        }
        return result;
    }

    /// Of a series whose values are elsewhere.
    void take_observed(const totograph_series& given) {
        copied_observed_ = copied(given.observed, strides_of(given.observed_strides, series_), series_);
        series_.observed = copied_observed_;
    }

    void take_values(const totograph_series& given) {
        const Strides values = strides_of(given.values_strides, series_);
        const Strides observed = given.observed == nullptr ? values : strides_of(given.observed_strides, series_);
        // Gaps that NaN marks are written to a mask of our own, which then lies as the values do (`take_mask`).
        const bool is_one_layout = observed == values || (is_rows(observed, series_) && is_rows(values, series_) &&
                                                          row_stride(observed, series_) == row_stride(values, series_));
        if (is_rows(values, series_) && is_one_layout) {
            series_.stride = row_stride(values, series_);
            const auto room = static_cast<std::size_t>((series_.rows() - 1) * series_.stride + series_.steps);
            series_.values = {given.values, room};
            if (given.observed != nullptr) {
                series_.observed = {given.observed, room};
            }
        } else {
            copied_values_ = copied(given.values, values, series_);
            series_.values = copied_values_;
            if (given.observed != nullptr) {
                copied_observed_ = copied(given.observed, observed, series_);
                series_.observed = copied_observed_;
            }
        }
        if (given.nan_is_gap != 0) {
            mark_gaps();
        }
    }

    void mark_gaps() {
        for (Index row = 0; row < series_.rows(); ++row) {
            for (Index step = 0; step < series_.steps; ++step) {
                if (!std::isnan(series_.values[place(row, step)])) {
                    continue;
                }
                if (copied_observed_.empty()) {
                    take_mask();
                }
                copied_observed_[place(row, step)] = 0;
            }
        }
    }
    [[nodiscard]] std::size_t place(Index row, Index step) const {
        return static_cast<std::size_t>(series_.row_begin(row) + step);
    }

    /// Makes the mask our own. Rows that lie apart are copied with it: what is between them may be much, or nobody's.
    void take_mask() {
        if (series_.rows() > 1 && series_.row_stride() != series_.steps) {
            const Strides strides{series_.variates * series_.stride, series_.stride, 1};
            copied_values_ = copied(series_.values.data(), strides, series_);
            if (!series_.observed.empty()) {
                copied_observed_ = copied(series_.observed.data(), strides, series_);
            }
            series_.values = copied_values_;
            series_.stride = 0;
        } else {
            copied_observed_.assign(series_.observed.begin(), series_.observed.end());
        }
        if (copied_observed_.empty()) {
            copied_observed_.assign(series_.values.size(), 1);
        }
        series_.observed = copied_observed_;
    }

    Series series_;
    std::vector<float> copied_values_;
    std::vector<std::uint8_t> copied_observed_;
};

/// What a caller asks for, as the library has it. Throws `Error(invalid_argument)` for what is reserved.
inline ForecastOptions options_of(const totograph_request& request) {
    if (request.reserved != 0) {
        throw Error(ErrorCode::invalid_argument, "The reserved field of a request is " +
                                                     std::to_string(request.reserved) +
                                                     ", which asks for what only a package of a later version has; set "
                                                     "it to 0, or compile the package anew.");
    }
    ForecastOptions options{.seed = request.seed,
                            .context = request.refuse_long_context != 0 ? ContextPolicy::error : ContextPolicy::newest,
                            .extend = request.extend != 0,
                            .first_sample = request.first_sample};
    if (request.horizon != 0) {
        options.horizon = request.horizon;
    }
    if (request.samples != 0) {
        options.samples = request.samples == TOTOGRAPH_MEAN ? 0 : request.samples;
    }
    return options;
}

}  // namespace totograph::package
