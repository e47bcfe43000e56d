// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/records.hpp>

#include "../intake/options.hpp"
#include "clock_columns.hpp"
#include "options.hpp"

namespace examples {

/// How the lines of a stream are written: as the command line says, and as the first lines show.
struct LineFormat {
    using Record = std::vector<totograph::io::CsvField>;

    const Options& options;
    totograph::io::CsvOptions csv;
    totograph::io::GapWords gaps;
    std::optional<char> separator;            ///< As the header tells.
    std::optional<StreamClockColumns> clock;  ///< As the first lines show it together.

    /// `given` must outlive this object.
    explicit LineFormat(const Options& given)
        : options(given), csv(csv_options(given.intake)), gaps(given.intake.gaps) {}

    /// Finds the clock by the first lines together, as in files: the header, if there is one, and what follows it.
    void find_clock(const std::vector<std::string>& lines) {
        if (options.variates > 0 || lines.empty()) {
            return;
        }
        std::string text;
        for (const std::string& line : lines) {
            text += line + "\n";
        }
        const totograph::io::CsvLayout layout = totograph::io::find_layout(text, csv.separator);
        totograph::io::CsvOptions with_columns = csv;
        with_columns.columns = options.columns;
        clock = find_clock_columns(lines, layout.separator, with_columns, gaps);
    }

    /// Whether the clock that was found is of several columns.
    [[nodiscard]] bool has_clock_of_parts() const { return clock && clock->parts.size() > 1; }

    [[nodiscard]] char used_separator() const { return csv.separator.value_or(separator.value_or(',')); }

    /// The fields of a line. Throws `Error` when its quotes do not match, or when it holds a NUL byte.
    [[nodiscard]] Record split(std::string_view line) const {
        Record record;
        if (!totograph::io::CsvRecords(line, "standard input", used_separator()).next(record)) {
            record.emplace_back();  // an empty line is one empty field
        }
        return record;
    }

    [[nodiscard]] totograph::io::CellKind kind_of(std::string_view field) const {
        return totograph::io::kind_of_cell(field, gaps);
    }
};

}  // namespace examples
