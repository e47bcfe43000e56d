// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/io/time/month_names.hpp>

namespace totograph::io {

/// A date that more than digits and one separator spell: its month is a name of `month_spellings` ("05-Jan-2024",
/// "January 5, 2024", "3. März 2024", "1er févr. 2024", "3 de marzo de 2024", "2024 Jan"), or it is a quarter
/// ("2024-Q1"), a week of ISO 8601, which stands for its Monday, or a day of one ("2024-W05", "2024-W05-1"), or words
/// stand behind its parts ("2024年1月5日", "2024년 1월 5일", "2024. 1. 5."). A day of the week may stand before the
/// name of a month, in English: "Mon, 01 Jan 2024".
struct NamedDate {
    std::int64_t year = 0;
    std::int64_t month = 0;
    std::int64_t day = 1;
    bool has_day = false;
    MonthSpellingSet month_spellings = 0;  ///< Those that have the name of the month.
    /// How it is spelled: `d` a day, `D` one of two digits, `e` one whose first is "1er", `b` a month, `p` the point of
    /// a short name, `f` "de ", `q` the number of a quarter, `y` a year of two digits and `Y` of four, `a` a short day
    /// of the week and `A` a whole one; `n` a month in digits, `N` one of two; `G` the year of a week, `V` its number,
    /// `u` a day of it; all else stands for itself. `^` before a name asks for capitals, `_` for small letters.
    std::string pattern{};
};

namespace detail {

inline constexpr std::array<std::string_view, 7> weekday_names = {"sunday",   "monday", "tuesday", "wednesday",
                                                                  "thursday", "friday", "saturday"};

inline char small_letter(char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

/// Whether a word is a day of the week, whole or by its first three letters.
bool is_weekday(std::string_view word);

/// Reads the parts of a named date off the front of a text, in any order that says which part is which.
class NamedDateReader {
public:
    explicit NamedDateReader(std::string_view text) : rest_(text) {}

    /// The date, or nothing. What has no day must be the whole text.
    std::optional<NamedDate> read();

    [[nodiscard]] std::string_view rest() const { return rest_; }

private:
    static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

    void take(std::size_t count) { rest_.remove_prefix(count); }

    /// One mark, a comma and a blank, or nothing where digits and letters touch; and "de " behind a blank.
    bool take_separator();

    void take_particle();

    /// A year has four digits, or two behind a day and a month.
    bool take_number(int part);

    /// Takes "er" behind a day that is the first: "1er janvier 2024".
    bool take_ordinal();

    bool take_quarter();

    /// A day of the week and what parts it from the date; that it is the right one is not checked.
    void take_weekday();

    bool take_month();

    /// Takes a point that belongs to the name ("janv.", "mai.-"). One before a digit is a separator, and so is ". "
    /// behind a whole name.
    void take_point(const MonthName& month);

    /// The word that comes next; empty without.
    [[nodiscard]] std::string_view word() const;

    /// Adds a name to the pattern, as its letters are.
    void add_name(std::string_view name, char kind);

    std::string_view rest_;
    NamedDate date_;
    bool has_year_ = false;
    bool has_quarter_ = false;
    bool is_day_first_ = false;
};

/// Narrows spellings by how a date is written, as long as some remain: "1er" suggests French, "de" Spanish or
/// Portuguese, a point behind the day German ("3. März"), before a small letter a northern language or Czech
/// ("3. marts"). Small letters suggest no German, and English only by its usual short names without a point
/// ("01jan2024").
MonthSpellingSet likely_spellings(std::string_view pattern, MonthSpellingSet spellings);

}  // namespace detail

/// Takes a named date off the front of a text; nothing, and the text as it was, where there is none. Its day may be one
/// that the month lacks.
std::optional<NamedDate> take_named_date(std::string_view& text);

/// Adds to a pattern what it cannot show by itself and an earlier one of the same column does. "12 mai 2024" tells
/// neither if a day may have one digit nor if short names have points.
void join_pattern(std::string& later, std::string_view earlier);

/// A date in the spelling of a `NamedDate`.
std::string named_date_text(const std::chrono::year_month_day& date, std::string_view pattern,
                            MonthSpellingSet spellings);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/named_date.hpp>
#endif
