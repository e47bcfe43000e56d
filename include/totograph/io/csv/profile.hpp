// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/time/month_names.hpp>

namespace totograph::io {

/// What the cells of one column are, all together.
struct ColumnProfile {
    std::size_t blanks = 0;
    std::size_t gap_words = 0;
    std::size_t numbers = 0;  ///< `true` and `false` among them
    std::size_t times = 0;
    std::size_t texts = 0;
    std::string first_gap_word{};
    std::string first_text{};
    std::size_t first_text_line = 0;
    std::string unit{};  ///< Of the first number that is not zero.
    bool has_unit = false;
    std::string other_unit{};  ///< One that cannot be converted to `unit`.
    std::size_t other_unit_line = 0;
    bool has_other_unit = false;
    MarkEvidence marks{};
    bool is_constant = true;
    std::string first_cell{};
    std::vector<double> counts{};  ///< Its numbers, as long as the column may be a clock.
    bool can_be_clock = true;
    double smallest = 0;  ///< Of its numbers that are plain.
    double largest = 0;
    bool are_whole = true;     ///< Whether its numbers are plain and whole.
    bool has_hours = false;    ///< Whether a time in it has a time of day, too.
    bool has_repeats = false;  ///< Whether a time or a date in digits in it stands twice in a row.
    std::string last_time{};
    std::size_t dates_in_digits = 0;  ///< Of its numbers those that are dates, as long as all are, of one length.
    std::size_t times_of_day = 0;     ///< Of its texts those that are times of day, names of months, quarters.
    std::size_t month_names = 0;
    std::size_t quarters = 0;
    std::string first_time{};
    std::size_t first_time_line = 0;
    MonthSpellingSet month_languages = ~MonthSpellingSet{0};  ///< Those that have all names of months in its times.

    [[nodiscard]] std::size_t filled() const { return numbers + times + texts; }
    /// Whether all that is there are numbers of one unit.
    [[nodiscard]] bool is_numeric() const { return numbers > 0 && numbers == filled() && !has_other_unit; }
    /// Whether nine of ten cells are times: below a table, or between its parts, may stand a word such as "Total".
    [[nodiscard]] bool is_time() const { return times > 0 && times >= 9 * (filled() - times); }
    [[nodiscard]] bool is_empty() const { return filled() == 0; }
    /// Whether it holds dates without times of day.
    [[nodiscard]] bool is_date() const { return is_time() && !has_hours; }
    /// Whether nine of ten cells are times of day.
    [[nodiscard]] bool is_time_of_day() const {
        return times_of_day > 0 && times_of_day >= 9 * (filled() - times_of_day);
    }
    /// Whether all of its numbers are dates in digits, of one length.
    [[nodiscard]] bool is_date_in_digits() const { return is_numeric() && dates_in_digits == numbers; }
    /// Whether it holds whole numbers of this range alone.
    [[nodiscard]] bool is_within(double least, double most) const {
        return is_numeric() && are_whole && smallest >= least && largest <= most;
    }
};

/// A name in small letters and digits alone.
std::string plain_name(std::string_view name);

/// Whether a column is called as clocks are.
bool is_clock_name(std::string_view name);

/// Whether a cell is a time of day, such as "10:00", "9:30:15 PM" or "10:00:00.250Z".
bool is_time_of_day(std::string_view cell);

/// Whether a cell is a quarter without its year.
inline bool is_quarter(std::string_view cell) {
    return cell.size() == 2 && (cell[0] == 'Q' || cell[0] == 'q') && cell[1] >= '1' && cell[1] <= '4';
}

namespace detail {

/// How often a number that lies where epoch times of the years 2001 to 2096 do is to be divided by 1000 to be seconds;
/// -1 elsewhere.
int epoch_power(double value);

/// Whether at least half of the intervals between ascending values are the same, to `tolerance` of one: three at least,
/// or all where there are fewer (two of three random intervals prove nothing).
bool is_regular(const std::vector<double>& ascending, double tolerance);

}  // namespace detail

/// Adds cells to profiles.
class ColumnProfiler {
public:
    explicit ColumnProfiler(const GapWords& gaps) : gaps_(gaps) {}

    /// `may_count` says that the column may be a clock that counts from anywhere, not only as epoch times do.
    void add(ColumnProfile& profile, const CsvField& field, bool may_count) const;

private:
    static void add_time(ColumnProfile& profile, std::string_view cell, std::size_t line);

    /// Whether the name of a month in a time is one of a language that has the others: "SET-2000" may be Italian, and
    /// "LIS-2001" Polish, but a column of both holds labels.
    static bool is_in_one_language(ColumnProfile& profile, std::string_view cell);

    static void add_text(ColumnProfile& profile, std::string_view cell, std::size_t line);

    static void add_number(ColumnProfile& profile, std::string_view cell, std::size_t line, bool may_count);

    static void add_date_in_digits(ColumnProfile& profile, std::string_view cell);

    static void add_unit(ColumnProfile& profile, std::string_view unit, bool is_zero, std::size_t line);

    static void add_count(ColumnProfile& profile, double value, bool may_count);

    const GapWords& gaps_;
};

/// How a column of numbers may be a clock.
struct CountingColumn {
    bool is_epoch = false;    ///< All lie where epoch times do.
    bool is_regular = false;  ///< In order, they come at equal intervals, but for a few.
    bool is_even = false;     ///< Regular without jitter, as counts of events hardly ever are.
    bool is_rising = false;   ///< They stand in order, upwards or downwards, and none twice.
};

CountingColumn counting(const ColumnProfile& profile);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/profile.hpp>
#endif
