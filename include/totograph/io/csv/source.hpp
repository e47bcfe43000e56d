// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/digits.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/named_date.hpp>

namespace totograph::io::detail {

/// What the note about a missing header advises where an option says that there is one.
inline constexpr std::string_view header_advice = " (--header yes says it has)";

/// A CSV text whose layout and header are known, to be read row by row as often as needed.
class CsvSource {
public:
    using Record = std::vector<CsvField>;

    CsvSource(std::string_view text, std::string_view file_name, const CsvOptions& options, const GapWords& gaps);

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] char separator() const { return layout_.separator; }
    /// Whether the first column has no name of its own, as the index of a data frame.
    [[nodiscard]] bool has_index() const { return has_index_; }
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::string at_line(std::size_t line) const {
        return "Line " + std::to_string(line) + " of " + file_;
    }
    /// Sentences about the layout.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    /// Calls `use` with each row, as long as the header. Rows that are too short lack their last values; the last line
    /// of a file may be torn, and is left out then. Throws `Error(invalid_file)` for rows that are too long, and where
    /// blanks are the separator for those that are too short.
    template <class Use>
    void each_row(const Use& use) {
        CsvRecords records(text_.substr(begin_), file_name_, layout_.separator, line_, begin_ != layout_.begin);
        Record record;
        std::size_t blank_lines = 0;  // Gaps of a single column, but not at the end; nothing in other tables.
        std::size_t short_rows = 0;
        std::size_t first_short = 0;
        std::size_t torn = 0;
        while (records.next(record)) {
            const std::size_t line = record[0].line;
            if (record.size() == 1 && record[0].text.empty() && !record[0].is_quoted) {
                ++blank_lines;
                continue;
            }
            for (; names_.size() == 1 && blank_lines > 0; --blank_lines) {
                use(Record{CsvField{"", false, line - blank_lines}});
            }
            blank_lines = 0;
            if (record.size() < names_.size()) {
                if (records.is_torn()) {
                    torn = line;
                    break;
                }
                first_short = short_rows++ == 0 ? line : first_short;
            }
            fit(record);
            use_ascii_digits(record);
            use(record);
        }
        tell_short(short_rows, first_short, torn);
    }

private:
    void read_header(std::optional<bool> has_header, const GapWords& gaps);

    /// Whether the header leaves blanks above the first field of the first row, which begins at `second_at`, as pandas
    /// does above an index.
    [[nodiscard]] bool is_indented(std::size_t second_at) const;

    /// Whether a record begins with a date of mail that its comma parts, under the name of a clock: the second name is
    /// that of no clock.
    static bool is_parted_date(const Record& names, const Record& record);

    /// Whether a record begins with the name of a row, which R puts in quotes and names nowhere, and not with a date
    /// that a separator parts ("Jan 5, 2024"). The date behind a day of the week ("Mon, 05 Jan 2026") is whole without
    /// it.
    static bool has_row_name(const Record& record, char separator, const GapWords& gaps) {
        const CsvField& first = record.front();
        const auto kind = [&](const std::string& text) { return kind_of_cell(without_blanks(text), gaps); };
        return first.is_quoted || is_weekday(first.text) ||
               (kind(first.text) == CellKind::text &&
                kind(first.text + separator + " " + record[1].text) != CellKind::time);
    }

    /// The names of a file without a header: those of the comment before it, where there are as many.
    std::vector<std::string> names_in_comment(std::size_t count);

    void fit(Record& record) const;

    void tell_short(std::size_t short_rows, std::size_t first_short, std::size_t torn);

    std::string_view text_;
    std::string file_name_;
    std::string file_;
    CsvLayout layout_;
    std::vector<std::string> names_;
    std::vector<std::string> notes_;
    std::size_t begin_ = 0;  // of the rows
    std::size_t line_ = 1;
    bool has_index_ = false;
    bool has_told_ = false;
};

/// What the columns of a text hold; `rows`, where given, becomes the number of its rows.
std::vector<ColumnProfile> profile_columns(CsvSource& source, const GapWords& gaps, std::size_t* rows = nullptr);

}  // namespace totograph::io::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/source.hpp>
#endif
