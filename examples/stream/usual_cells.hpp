// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/profile.hpp>

namespace examples {

/// What most of a column's cells in the first lines are. A few others among them are mistakes, and are not to say what
/// the column is.
class UsualCells {
    using Kind = totograph::io::CellKind;

public:
    /// @param is_asked  whether the column was asked for as values
    /// @param is_named  whether it is called as clocks are: wrong epoch times in it are mistakes, too
    UsualCells(bool is_asked, bool is_named) : is_asked_(is_asked), is_named_(is_named) {}

    void add(const std::string& cell, Kind kind) {
        numbers_ += is_number(kind) ? 1 : 0;
        times_ += kind == Kind::time ? 1 : 0;
        texts_ += kind == Kind::text ? 1 : 0;
        if (const int power = epoch_power(cell, kind); power >= 0) {
            ++epochs_.at(static_cast<std::size_t>(power));
        }
    }

    /// Whether a cell may be one of this column.
    [[nodiscard]] bool hold(const std::string& cell, Kind kind) const {
        if (kind == Kind::blank || kind == Kind::gap_word) {
            return true;
        }
        if (is_asked_) {
            return is_number(kind);
        }
        if (are_most(times_, times_ + numbers_ + texts_)) {
            return kind == Kind::time;
        }
        if (numbers_ < texts_ || numbers_ <= times_) {
            return true;  // text, or no telling
        }
        const auto epoch = std::max_element(epochs_.begin(), epochs_.end());
        const bool are_epochs = is_named_ && are_most(*epoch, numbers_);
        return is_number(kind) && (!are_epochs || epoch_power(cell, kind) == epoch - epochs_.begin());
    }

    /// Whether it holds numbers, for all that is known.
    [[nodiscard]] bool are_numbers() const { return numbers_ > 0 && numbers_ >= texts_; }

private:
    static bool is_number(Kind kind) { return kind == Kind::number || kind == Kind::truth; }

    static int epoch_power(const std::string& cell, Kind kind) {
        return kind == Kind::number ? totograph::io::detail::epoch_power(totograph::io::parse_decimal(cell).value) : -1;
    }

    static bool are_most(std::size_t count, std::size_t all) { return count > 0 && 4 * count >= 3 * all; }

    bool is_asked_;
    bool is_named_;
    std::size_t numbers_ = 0;
    std::size_t times_ = 0;
    std::size_t texts_ = 0;
    std::array<std::size_t, 4> epochs_{};  // numbers that are epoch times, by their power of 1000
};

}  // namespace examples
