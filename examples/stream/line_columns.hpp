// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/time/clock_parts.hpp>

#include "../common/text.hpp"

namespace examples {

/// Which field of a line holds what.
struct LineColumns {
    std::vector<std::string> all;     ///< The names of all columns; of the variates with `--variates`.
    std::vector<std::size_t> fields;  ///< Where a line holds each variate.
    std::size_t width = 0;            ///< Fields of a line.
    bool are_counted = false;         ///< `--variates` says how many there are, and no header names them.
    bool has_index = false;           ///< The first column has no name, as the numbers of rows have none.
    std::optional<std::size_t> timestamp;
    totograph::io::ClockParts parts;  ///< The columns that are the clock together; empty for one alone.

    /// The columns of lines without a header: so many variates, called 1, 2 and so on.
    static LineColumns counted(std::int64_t variates) {
        LineColumns columns;
        columns.are_counted = variates > 0;
        for (std::int64_t variate = 0; variate < variates; ++variate) {
            columns.all.push_back(std::to_string(variate + 1));
            columns.fields.push_back(static_cast<std::size_t>(variate));
        }
        columns.width = columns.all.size();
        return columns;
    }

    /// Without a header a timestamp moves the fields, and not the names.
    [[nodiscard]] const std::string& name_of(std::size_t variate) const {
        return all[are_counted ? variate : fields[variate]];
    }

    [[nodiscard]] bool is_clock(std::size_t place) const {
        return place == timestamp || std::any_of(parts.begin(), parts.end(), [&](const totograph::io::ClockPart& part) {
                   return part.position == place;
               });
    }

    /// Takes the clock that the first lines show, if they show one.
    void take_clock(totograph::io::ClockParts clock) {
        parts = std::move(clock);
        timestamp = parts.empty() ? std::nullopt : std::optional(parts.front().position);
    }
};

namespace detail {

[[noreturn]] inline void refuse_no_variates(const std::string& timestamps) {
    throw totograph::Error(totograph::ErrorCode::invalid_series,
                           "There is nothing to forecast: the only column, '" + printable(timestamps) +
                               "', holds timestamps. Give at least one variate beside it.");
}

}  // namespace detail

}  // namespace examples
