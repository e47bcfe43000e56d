// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/csv.hpp>
#include <totograph/io/csv/writer.hpp>

#include "require.hpp"

namespace {

using fuzz::require;
using totograph::io::CsvOptions;
using totograph::io::Table;

void require_same(const Table& a, const Table& b) {
    require(a.timestamp_name == b.timestamp_name && a.timestamps == b.timestamps && a.names == b.names);
    require(a.columns.size() == b.columns.size());
    for (std::size_t column = 0; column < a.columns.size(); ++column) {
        require(a.columns[column].size() == a.rows() && b.columns[column].size() == a.rows());
        for (std::size_t row = 0; row < a.rows(); ++row) {
            const double left = a.columns[column][row];
            const double right = b.columns[column][row];
            require(!std::isinf(left) && ((std::isnan(left) && std::isnan(right)) || left == right));
        }
    }
}

/// The options that two bytes choose.
CsvOptions chosen_options(std::uint8_t layout, std::uint8_t request) {
    using namespace totograph::io;
    constexpr std::string_view separators = ",;\t |";
    CsvOptions options;
    if (const std::size_t separator = layout & 7U; separator > 0) {
        options.separator = separators[separator % separators.size()];
    }
    if (layout & 0x08U) {
        options.header = (layout & 0x10U) != 0;
    }
    if (layout & 0x20U) {
        options.decimal = layout & 0x40U ? DecimalMark::comma : DecimalMark::point;
    }
    if (request & 0x01U) {
        options.columns = {"a"};
    }
    if (request & 0x02U) {
        options.timestamp = "t";
    }
    if (request & 0x04U) {
        options.series = {"s"};
    }
    if (request & 0x08U) {
        options.gaps = {"7", "what"};
    }
    options.rows = std::array{RowPolicy::repair, RowPolicy::strict, RowPolicy::as_they_stand,
                              RowPolicy::repair}[(request >> 6U) & 3U];
    if (request & 0x20U) {
        options.dates = request & 0x10U ? DateOrder::day_first : DateOrder::month_first;
    }
    return options;
}

}  // namespace

/// Parses the bytes behind the first two, which choose the options, as CSV. What is accepted must be writable and read
/// back as the same table.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const CsvOptions options = chosen_options(data[0], data[1]);
    const std::vector<char> text(reinterpret_cast<const char*>(data) + 2, reinterpret_cast<const char*>(data) + size);
    try {
        const Table table = totograph::io::parse_csv(std::string_view(text.data(), text.size()), "fuzz.csv", options);
        require(table.rows() > 0 && !table.columns.empty());
        require(table.units.size() == table.names.size());
        require(!table.clock.is_known() || table.clock.times.size() == table.rows());
        if (table.clock.is_known() && options.rows != totograph::io::RowPolicy::as_they_stand) {
            require(std::is_sorted(table.clock.times.begin(), table.clock.times.end()));
        }
        CsvOptions again{.separator = options.separator, .columns = table.names, .header = true};
        again.decimal = totograph::io::DecimalMark::point;
        again.rows = totograph::io::RowPolicy::as_they_stand;
        if (!table.timestamps.empty()) {
            again.timestamp = table.timestamp_name;
            if (table.clock.is_known()) {
                again.dates = table.clock.style.order;
            }
        }
        const char separator = options.separator.value_or(',');
        again.separator = separator;
        require_same(table, totograph::io::parse_csv(totograph::io::format_csv(table, separator), "again.csv", again));
    } catch (const totograph::Error& error) {
        const bool asks = !options.columns.empty() || options.timestamp || !options.series.empty();
        require(error.code() == totograph::ErrorCode::invalid_file ||
                (error.code() == totograph::ErrorCode::invalid_argument && asks));
    }
    return 0;
}
