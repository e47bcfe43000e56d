// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/table.hpp>

namespace totograph::io {

namespace detail {

/// Appends a cell, in quotes where it would else be read as something else. `gaps` are the words of who reads it.
void append_csv_text(std::string& text, std::string_view cell, char separator, bool is_name, const GapWords& gaps);

/// Throws for whatever could not be read back.
void check_table(const Table& table);

}  // namespace detail

/// A table as CSV text: a header, then a line for each row; the timestamps, if there are any, come first. Numbers are
/// the shortest that read back as the same; gaps (NaN) are empty, between blanks `""`.
///
/// Throws `Error(invalid_argument)` for a table that could not be read back: no rows or columns, lengths that differ,
/// empty or equal names, infinite values, NUL bytes, or an unusable separator.
std::string format_csv(const Table& table, char separator = ',');

/// Writes a table as `format_csv` spells it. The file appears under its name only when it is complete: until then it is
/// a temporary file beside it.
///
/// Throws what `format_csv` throws, `Error(file_not_found)` when the directory cannot be written, and
/// `Error(io_failure)` when writing fails, each with the system's reason; a file that was there before is then
/// unchanged.
void write_csv(const std::filesystem::path& path, const Table& table, char separator = ',');

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/writer.hpp>
#endif
