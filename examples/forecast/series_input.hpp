// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/csv/csv.hpp>

#include "../common/centre.hpp"
#include "../common/format.hpp"
#include "../common/text.hpp"

namespace examples {

/// Which part of a table is to be forecast.
struct SeriesRequest {
    std::vector<std::string> targets{};  ///< Empty: every column that is not exogenous.
    std::vector<std::string> exogenous{};
    totograph::Index context = 0;  ///< The most rows to use, the latest ones; 0: all.
    totograph::Index horizon = 1;
    bool holdout = false;      ///< Hide the last `horizon` rows of the targets.
    bool independent = false;  ///< Each target in a group of its own.
};

/// A table's columns laid out as the library takes a series: targets first, then exogenous variates, one batch.
struct SeriesInput {
    std::vector<std::string> targets;
    std::vector<std::string> exogenous;
    std::vector<std::string> units;  ///< [targets]; "" without
    totograph::Index first_row = 0;  ///< The table's row of the first context step.
    totograph::Index steps = 0;      ///< Context steps; the forecast begins at row `first_row + steps`.
    totograph::Index horizon = 0;
    std::vector<double> levels;  ///< [variates]; what was taken off a variate's values, so that floats hold them
    std::vector<float> values;   ///< [variates, steps] above the level; 0 where nothing was observed
    std::vector<std::uint8_t> observed;        ///< [variates, steps]
    std::vector<std::int32_t> groups;          ///< [variates]; variates of one group see each other
    std::vector<float> future_exogenous;       ///< [exogenous, horizon] above the level, or empty when it is not known
    std::vector<std::vector<double>> history;  ///< [targets][steps], NaN at gaps
    std::vector<std::vector<double>> truth;    ///< [targets][horizon], NaN at gaps; empty without a holdout
    std::vector<std::string> notes;            ///< Sentences that the user should read.

    [[nodiscard]] totograph::Index variates() const {
        return static_cast<totograph::Index>(targets.size() + exogenous.size());
    }
    [[nodiscard]] totograph::Index forecast_row() const { return first_row + steps; }
    /// The unit of a target's values; "" without.
    [[nodiscard]] std::string_view unit(std::size_t target) const {
        return target < units.size() ? std::string_view(units[target]) : std::string_view();
    }
    /// What a person calls a target: its name, and its unit if it has one.
    [[nodiscard]] std::string heading(std::size_t target) const {
        return unit(target).empty() ? targets[target] : targets[target] + " [" + units[target] + "]";
    }
};

namespace detail {

/// Shows a name out of a file or a command line inside a sentence.
inline std::string quoted_name(const std::string& name) {
    return "'" + printable(name) + "'";
}

/// Where a row stands, as a person finds it: its timestamp when there is one, else its number from 1 below the header.
inline std::string row_name(const totograph::io::Table& table, totograph::Index row) {
    const auto at = static_cast<std::size_t>(row);
    const bool stamped = at < table.timestamps.size() && !table.timestamps[at].empty();
    return "data row " + count_text(row + 1) + (stamped ? " (" + printable(table.timestamps[at]) + ")" : "");
}

/// Cuts the wanted rows and columns out of one table.
class SeriesBuilder {
public:
    SeriesBuilder(const totograph::io::Table& table, const SeriesRequest& request) : table_(table), request_(request) {
        rows_ = table.columns.empty() ? 0 : static_cast<Index>(table.columns.front().size());
    }

    [[nodiscard]] SeriesInput build() {
        choose_columns();
        for (const std::size_t column : targets_) {
            check_finite(column);
        }
        for (const std::size_t column : exogenous_) {
            check_finite(column);
        }
        choose_rows();
        copy_context();
        copy_future();
        return input_;
    }

private:
    using Index = totograph::Index;

    [[noreturn]] static void fail(totograph::ErrorCode code, const std::string& message) {
        throw totograph::Error(code, message);
    }

    [[nodiscard]] std::size_t find(const std::string& name, const char* option) const {
        const auto found = std::find(table_.names.begin(), table_.names.end(), name);
        if (found != table_.names.end()) {
            return static_cast<std::size_t>(found - table_.names.begin());
        }
        std::string known;
        for (const std::string& other : table_.names) {
            known += (known.empty() ? "" : ", ") + printable(other);
        }
        fail(totograph::ErrorCode::invalid_argument, std::string(option) + " names the column " + quoted_name(name) +
                                                         ", which the file does not have as numbers; it has: " + known +
                                                         ".");
    }

    void choose_columns() {
        for (const std::string& name : request_.exogenous) {
            exogenous_.push_back(find(name, "--exogenous"));
        }
        for (const std::string& name : request_.targets) {
            targets_.push_back(find(name, "--targets"));
        }
        if (request_.targets.empty()) {
            for (std::size_t column = 0; column < table_.names.size(); ++column) {
                if (std::find(exogenous_.begin(), exogenous_.end(), column) == exogenous_.end()) {
                    targets_.push_back(column);
                }
            }
        }
        if (targets_.empty()) {
            fail(totograph::ErrorCode::invalid_series,
                 "The file has no column of numbers left to forecast; give one to --targets.");
        }
        for (const std::size_t column : targets_) {
            input_.targets.push_back(table_.names[column]);
            input_.units.push_back(table_.units.empty() ? "" : table_.units[column]);
        }
        for (const std::size_t column : exogenous_) {
            input_.exogenous.push_back(table_.names[column]);
        }
    }

    void check_finite(std::size_t column) const {
        for (Index row = 0; row < rows_; ++row) {
            if (std::isinf(value(column, row))) {
                fail(totograph::ErrorCode::invalid_series,
                     "Column " + quoted_name(table_.names[column]) + " is infinite in " + row_name(table_, row) +
                         "; leave the field blank if nothing was observed there.");
            }
        }
    }

    [[nodiscard]] double value(std::size_t column, Index row) const {
        return table_.columns[column][static_cast<std::size_t>(row)];
    }

    [[nodiscard]] bool any_target(Index row) const {
        return std::any_of(targets_.begin(), targets_.end(),
                           [&](std::size_t column) { return !std::isnan(value(column, row)); });
    }

    void choose_rows() {
        Index end = rows_;
        while (end > 0 && !any_target(end - 1)) {
            --end;
        }
        if (end == 0) {
            fail(totograph::ErrorCode::invalid_series,
                 rows_ == 0 ? "The file has a header but no rows, so there is no history to forecast from."
                            : "All target columns are blank, so there is no history to forecast from.");
        }
        known_rows_ = rows_ - end;
        if (request_.holdout) {
            if (end <= request_.horizon) {
                fail(totograph::ErrorCode::invalid_series,
                     "--holdout hides the last " + plural(request_.horizon, "row") + ", but only " +
                         plural(end, "row") +
                         " hold target values, so nothing would be left to forecast from; use a smaller --horizon.");
            }
            end -= request_.horizon;
            known_rows_ = request_.horizon;
            copy_rows(targets_, end, request_.horizon, input_.truth);
        } else if (known_rows_ > 0 && exogenous_.empty()) {
            input_.notes.push_back("The last " + plural(known_rows_, "row") +
                                   " of the file hold no target values; the forecast begins at " +
                                   row_name(table_, end) + ".");
        }
        input_.steps = request_.context > 0 ? std::min(request_.context, end) : end;
        input_.first_row = end - input_.steps;
        input_.horizon = request_.horizon;
    }

    void copy_rows(const std::vector<std::size_t>& columns, Index first, Index count,
                   std::vector<std::vector<double>>& to) const {
        for (const std::size_t column : columns) {
            const auto begin = table_.columns[column].begin() + first;
            to.emplace_back(begin, begin + count);
        }
    }

    void copy_future() {
        if (exogenous_.empty()) {
            return;
        }
        const Index first = input_.forecast_row();
        if (known_rows_ == 0) {
            input_.notes.push_back(
                "The future of the exogenous columns is not known, because the file ends with the targets; only their "
                "past is "
                "used. To give it, append " +
                plural(request_.horizon, "row") + " with the exogenous values and blank targets.");
            return;
        }
        if (known_rows_ < request_.horizon) {
            fail(totograph::ErrorCode::invalid_series,
                 "The file knows the exogenous columns for " + plural(known_rows_, "row") +
                     " after the targets end, but the horizon is " + plural(request_.horizon, "step") +
                     "; append rows, or use --horizon " + std::to_string(known_rows_) + ".");
        }
        for (std::size_t place = 0; place < exogenous_.size(); ++place) {
            const std::size_t column = exogenous_[place];
            const double level = input_.levels[targets_.size() + place];
            for (Index row = first; row < first + request_.horizon; ++row) {
                if (std::isnan(value(column, row))) {
                    fail(totograph::ErrorCode::invalid_series,
                         "The exogenous column " + quoted_name(table_.names[column]) + " is blank in " +
                             row_name(table_, row) +
                             ", but its future must be known without gaps; fill the field in, or leave the column out "
                             "of --exogenous.");
                }
                input_.future_exogenous.push_back(static_cast<float>(value(column, row) - level));
            }
        }
        if (known_rows_ > request_.horizon) {
            input_.notes.push_back("The file knows the exogenous columns for " + plural(known_rows_, "row") +
                                   " after the targets end; the first " + plural(request_.horizon, "row") +
                                   " are used.");
        }
    }

    void copy_context() {
        std::vector<std::size_t> columns = targets_;
        columns.insert(columns.end(), exogenous_.begin(), exogenous_.end());
        for (const std::size_t column : columns) {
            const std::span<const double> context =
                std::span(table_.columns[column])
                    .subspan(static_cast<std::size_t>(input_.first_row), static_cast<std::size_t>(input_.steps));
            input_.levels.push_back(level_of(context));
            if (!append_centred(context, input_.levels.back(), input_.values, input_.observed)) {
                fail(totograph::ErrorCode::invalid_series,
                     "Column " + quoted_name(table_.names[column]) + " is blank in all " + plural(input_.steps, "row") +
                         " of the context; leave it out with --targets, or use a longer --context.");
            }
            const auto group = request_.independent ? static_cast<std::int32_t>(input_.groups.size()) : 0;
            input_.groups.push_back(group);
        }
        copy_rows(targets_, input_.first_row, input_.steps, input_.history);
    }

    const totograph::io::Table& table_;
    const SeriesRequest& request_;
    Index rows_ = 0;
    Index known_rows_ = 0;  // rows behind the context that know the exogenous future
    std::vector<std::size_t> targets_;
    std::vector<std::size_t> exogenous_;
    SeriesInput input_;
};

}  // namespace detail

/// Cuts a series out of a table. Rows at the end whose targets are all blank are the future: with exogenous columns
/// they give its known values, otherwise they are left out. Throws `Error(invalid_argument)` for a column that the
/// table lacks, and `Error(invalid_series)` for infinite, missing or too few values, naming the column and the row.
inline SeriesInput series_input(const totograph::io::Table& table, const SeriesRequest& request) {
    return detail::SeriesBuilder(table, request).build();
}

}  // namespace examples
