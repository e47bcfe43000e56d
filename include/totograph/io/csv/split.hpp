// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/csv/text_encoding.hpp>

namespace totograph::io {

/// The names of the columns of a CSV text. Throws `Error(invalid_file)` as `parse_csv` does.
inline std::vector<std::string> csv_column_names(std::string_view text, std::string_view file_name,
                                                 const CsvOptions& options = {}) {
    std::string decoded;
    return detail::CsvSource(as_utf8(text, decoded), file_name, options, GapWords(options.gaps)).names();
}

/// The rows of one value of a column: a CSV text of their own, without that column.
struct CsvPart {
    std::string value;
    std::string text;
    char separator = ',';  ///< That of the whole text: between commas a decimal comma would say something else.
    /// Of the whole text, for `CsvOptions::marks`: the rows of one value alone may not tell what "1.250" is.
    std::vector<MarkEvidence> marks{};
};

/// Splits a table in long form, where several columns hold numbers of what one column names: a part for each value of
/// that column, in the order in which they first appear. Rows keep their order. Throws `Error(invalid_file)` when there
/// is no such column, a row has no value in it, or the text is none that `parse_csv` reads. `notes` gets sentences
/// about the layout of the text, which its parts do not show.
std::vector<CsvPart> split_csv(std::string_view text, std::string_view file_name, std::string_view column,
                               const CsvOptions& options = {}, std::vector<std::string>* notes = nullptr);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/split.hpp>
#endif
