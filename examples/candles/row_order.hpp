// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <totograph/io/csv/table.hpp>
#include <totograph/io/text.hpp>

#include "../common/format.hpp"
#include "candle_note.hpp"
#include "refuse_candles.hpp"

namespace examples {

/// Puts the rows of a table, each of which has a time, in the order of time, and leaves out those that repeat another
/// one. Times that are missing stay so: a market has no candle at night, and that is no gap.
class RowOrder {
public:
    /// `file` is the quoted name of the file.
    RowOrder(totograph::io::Table& table, std::string file, bool is_strict)
        : table_(table), file_(std::move(file)), is_strict_(is_strict) {}

    /// Returns what was done. Throws `Error(invalid_file)` instead of doing it where it is strict, and for rows of one
    /// time whose numbers differ.
    [[nodiscard]] std::vector<CandleNote> run() {
        sort();
        leave_out_repeats();
        return notes_;
    }

private:
    using Rows = std::vector<std::size_t>;

    [[nodiscard]] const std::vector<std::int64_t>& times() const { return table_.clock.times; }
    [[nodiscard]] std::string stamp(std::size_t row) const { return totograph::io::in_quotes(table_.timestamps[row]); }

    void tell(const std::string& kind, const std::string& what, const std::string& done) {
        if (is_strict_) {
            detail::refuse_candles("The file " + file_ + " " + what + ". Without --strict " + done + ".");
        }
        notes_.push_back({kind, "The file " + file_ + " " + what + ": " + done + "."});
    }

    /// Keeps these rows, in this order.
    void keep(const Rows& rows) {
        const auto choose = [&](auto& values) {
            auto chosen = values;
            chosen.resize(rows.size());
            std::transform(rows.begin(), rows.end(), chosen.begin(), [&](std::size_t row) { return values[row]; });
            values = std::move(chosen);
        };
        choose(table_.timestamps);
        choose(table_.clock.times);
        std::for_each(table_.columns.begin(), table_.columns.end(), choose);
    }

    void sort() {
        const auto first = std::adjacent_find(times().begin(), times().end(), std::greater<>());
        if (first == times().end()) {
            return;
        }
        Rows rows(times().size());
        std::iota(rows.begin(), rows.end(), std::size_t{0});
        if (std::is_sorted(times().rbegin(), times().rend())) {
            tell("newest first", "has its newest row first", "the rows are turned round");
            std::reverse(rows.begin(), rows.end());
        } else {
            const auto row = static_cast<std::size_t>(first - times().begin());
            tell("not in order",
                 "has rows that are not in the order of time (" + stamp(row + 1) + " comes after " + stamp(row) + ")",
                 "they are sorted");
            std::stable_sort(rows.begin(), rows.end(),
                             [&](std::size_t a, std::size_t b) { return times()[a] < times()[b]; });
        }
        keep(rows);
    }

    void leave_out_repeats() {
        Rows kept;
        Rows repeats;
        Rows different;
        for (std::size_t row = 0; row < times().size(); ++row) {
            const bool is_new = row == 0 || times()[row] != times()[row - 1];
            (is_new ? kept : is_same(row, row - 1) ? repeats : different).push_back(row);
        }
        const auto rows_text = [](const Rows& rows) { return plural(static_cast<std::int64_t>(rows.size()), "row"); };
        if (!different.empty()) {
            detail::refuse_candles("The file " + file_ + " has " + rows_text(different) +
                                   " with the time of another one and other numbers, such as " +
                                   stamp(different.front()) +
                                   "; keep one row of each time. Where a column says whose candle a row is, name it "
                                   "with --symbol-column.");
        }
        if (!repeats.empty()) {
            const bool is_one = repeats.size() == 1;
            tell("repeats",
                 "has " + rows_text(repeats) + (is_one ? " that repeats" : " that repeat") + " another one, such as " +
                     stamp(repeats.front()),
                 is_one ? "it is left out" : "they are left out");
            keep(kept);
        }
    }

    [[nodiscard]] bool is_same(std::size_t a, std::size_t b) const {
        return std::all_of(table_.columns.begin(), table_.columns.end(), [&](const std::vector<double>& column) {
            return column[a] == column[b] || (std::isnan(column[a]) && std::isnan(column[b]));
        });
    }

    totograph::io::Table& table_;
    std::string file_;
    bool is_strict_;
    std::vector<CandleNote> notes_{};
};

}  // namespace examples
