// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "require.hpp"
#include "totograph/core/error.hpp"
#include "totograph/io/csv.hpp"

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

}  // namespace

/// Parses the bytes behind the first, which chooses the options, as CSV. What is accepted must be writable and read
/// back as the same table.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    constexpr std::string_view separators = ",;\t |";
    CsvOptions options;
    options.separator = separators[data[0] % separators.size()];
    if (data[0] & 0x40U) {
        options.columns = {"a"};
    }
    if (data[0] & 0x80U) {
        options.timestamp = "t";
    }
    const std::vector<char> text(reinterpret_cast<const char*>(data) + 1, reinterpret_cast<const char*>(data) + size);
    try {
        const Table table = totograph::io::parse_csv(std::string_view(text.data(), text.size()), "fuzz.csv", options);
        require(table.rows() > 0 && !table.columns.empty());
        CsvOptions again;
        again.separator = options.separator;
        again.columns = table.names;
        if (!table.timestamps.empty()) {
            again.timestamp = table.timestamp_name;
        }
        require_same(table,
                     totograph::io::parse_csv(totograph::io::format_csv(table, options.separator), "again.csv", again));
    } catch (const totograph::Error& error) {
        const bool asks = !options.columns.empty() || options.timestamp;
        require(error.code() == totograph::ErrorCode::invalid_file ||
                (asks && error.code() == totograph::ErrorCode::invalid_argument));
    }
    return 0;
}
