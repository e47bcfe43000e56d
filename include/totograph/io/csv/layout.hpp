// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/records.hpp>

namespace totograph::io {

/// The separators that a header is searched for. One that is rare in other text goes before one that is frequent.
inline constexpr std::string_view guessed_separators = "\t;|,";

/// How a CSV text is laid out, as far as its first lines tell.
struct CsvLayout {
    char separator = ',';
    std::size_t begin = 0;    ///< Where the first record begins, in bytes.
    std::size_t line = 1;     ///< The line that it begins on.
    std::size_t skipped = 0;  ///< Lines of comments and titles before it.
    bool has_titles = false;  ///< Whether not all of them are comments.
    std::string comment;      ///< The last comment of them, without its mark: the names, where there is no header.
};

/// What a cell looks like by itself.
enum class CellKind { blank, gap_word, truth, number, time, text };

namespace detail {

/// The first lines of a text, each with the number of separators of each kind outside quotes.
struct SampledLine {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t number = 1;
    std::array<std::size_t, guessed_separators.size()> counts{};
};

std::vector<SampledLine> sample_lines(std::string_view text, std::size_t begin, std::size_t number, std::size_t most);

inline bool is_blank_line(std::string_view line) {
    return line.find_first_not_of(" \t") == std::string_view::npos;
}

inline bool is_comment(std::string_view line) {
    return line.starts_with('#') || line.starts_with("//") || line.starts_with('%');
}

/// The separator that all lines have equally often; else the most frequent one of the first line; `,` where there is
/// none. Lines without any, before one with some, are titles: they do not count.
char guess_separator(const std::vector<SampledLine>& lines);

}  // namespace detail

/// What a cell (without blanks around it) looks like by itself.
CellKind kind_of_cell(std::string_view cell, const GapWords& gaps);

namespace detail {

/// The cells of a line: how many hold something, and whether all of those are text.
struct LineCells {
    std::size_t fields = 0;
    std::size_t filled = 0;
    bool is_text = true;
};

LineCells cells_of(std::string_view line, char separator, const GapWords& gaps);

/// How many of the first lines are titles although they hold separators ("Report for 2024, Q1", or what a spreadsheet
/// fills up: "Report,,"). Below them comes a line of names, then rows with as many fields that are not all text. The
/// titles have another number of fields, or at most half of theirs hold something. 0 where it does not look so.
std::size_t titles_with_separators(std::string_view text, const std::vector<SampledLine>& lines, char separator);

/// Begins the table behind so many of the lines.
void pass_over(CsvLayout& layout, const std::vector<SampledLine>& lines, std::size_t titles);

}  // namespace detail

/// Looks at the first lines of a text (without a byte order mark): passes over comments (`#`, `//`, `%`), blank lines,
/// titles and the line "sep=;" of spreadsheets, and guesses the separator where none is given.
CsvLayout find_layout(std::string_view text, std::optional<char> separator = std::nullopt);

/// Whether a first record holds names. It does if any of it is text. Numbers, times and gaps are data, except numbers
/// in quotes; times alone, where the second record has numbers and gaps alone; and times in quotes, where below are
/// numbers or no quotes, or where the whole first record is times. A time above a time is data.
bool is_header(const std::vector<CsvField>& first, const std::vector<CsvField>& second, const GapWords& gaps);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/layout.hpp>
#endif
