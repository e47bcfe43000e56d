// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/named_date.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/letters.hpp>
#include <totograph/io/time/month_names.hpp>
#include <totograph/io/time/week_date.hpp>
#include <totograph/io/time/worded_date.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool is_weekday(std::string_view word) {
    std::string small(word.substr(0, 10));
    std::transform(small.begin(), small.end(), small.begin(), small_letter);
    return std::any_of(weekday_names.begin(), weekday_names.end(),
                       [&](std::string_view name) { return small == name || small == name.substr(0, 3); });
}

TOTOGRAPH_INLINE std::optional<NamedDate> NamedDateReader::read() {
    take_weekday();
    for (int part = 0; part < 3; ++part) {
        const std::string_view before = rest_;
        const std::string pattern = date_.pattern;
        if (part > 0 && !(take_separator() && !rest_.empty())) {
            rest_ = before;
            break;
        }
        if (!(take_number(part) || take_quarter() || take_month())) {
            rest_ = before;
            date_.pattern = pattern;
            break;
        }
    }
    const bool is_whole = has_year_ && date_.month > 0 && (date_.has_day || rest_.empty());
    // "SET2000" may be a product: only English names may touch a year without a day.
    const bool is_label = !date_.has_day && date_.pattern.find("bY") != std::string::npos &&
                          (date_.month_spellings & spellings_of("English")) == 0;
    return is_whole && !is_label ? std::optional(date_) : std::nullopt;
}

TOTOGRAPH_INLINE bool NamedDateReader::take_separator() {
    if (rest_.starts_with(", ") || rest_.starts_with(". ")) {
        date_.pattern += rest_.substr(0, 2);
        take(2);
        take_particle();
        return true;
    }
    if (!rest_.empty() && std::string_view("-/ .").find(rest_.front()) != std::string_view::npos) {
        const bool is_blank = rest_.front() == ' ';
        date_.pattern += rest_.front();
        take(1);
        if (is_blank) {
            take_particle();
        }
        return true;
    }
    const char last = date_.pattern.back();
    const bool was_number = last == 'd' || last == 'D' || last == 'Y' || last == 'q';
    return !rest_.empty() && (was_number ? letter_length(rest_) > 0 : is_digit(rest_.front()));
}

TOTOGRAPH_INLINE void NamedDateReader::take_particle() {
    constexpr std::string_view particle = "de";
    if (rest_.size() > 2 && rest_[2] == ' ' && small_letter(rest_[0]) == particle[0] &&
        small_letter(rest_[1]) == particle[1]) {
        date_.pattern += rest_[1] == particle[1] ? "f" : "^f";
        take(3);
    }
}

TOTOGRAPH_INLINE bool NamedDateReader::take_number(int part) {
    std::size_t digits = 0;
    std::int64_t value = 0;
    for (; digits < rest_.size() && digits < 5 && is_digit(rest_[digits]); ++digits) {
        value = value * 10 + (rest_[digits] - '0');
    }
    const bool is_short_year = digits == 2 && part == 2 && date_.has_day && is_day_first_;
    if (!has_year_ && (digits == 4 || is_short_year)) {
        has_year_ = true;
        date_.year = digits == 4 ? value : value + (value < 69 ? 2000 : 1900);
        date_.pattern += digits == 4 ? 'Y' : 'y';
    } else if (!date_.has_day && !has_quarter_ && (digits == 1 || digits == 2)) {
        date_.has_day = true;
        date_.day = value;
        is_day_first_ = part == 0;
        date_.pattern += digits == 1 ? 'd' : 'D';
    } else {
        return false;
    }
    take(digits);
    if (date_.pattern.back() == 'd' && value == 1 && take_ordinal()) {
        date_.pattern.back() = 'e';
    }
    return true;
}

TOTOGRAPH_INLINE bool NamedDateReader::take_ordinal() {
    const std::string_view ending = word();
    const bool is_ordinal = ending == "er" || ending == "ER";
    take(is_ordinal ? ending.size() : 0);
    return is_ordinal;
}

TOTOGRAPH_INLINE bool NamedDateReader::take_quarter() {
    const bool is_quarter = rest_.size() >= 2 && (rest_[0] == 'Q' || rest_[0] == 'q') && rest_[1] >= '1' &&
                            rest_[1] <= '4' && (rest_.size() == 2 || !is_digit(rest_[2]));
    if (!is_quarter || date_.month > 0 || date_.has_day) {
        return false;
    }
    date_.month = 3 * (rest_[1] - '0') - 2;
    has_quarter_ = true;
    // "q" is a part of the pattern; a small letter before the number is spelled as a large one.
    date_.pattern += "Qq";
    take(2);
    return true;
}

TOTOGRAPH_INLINE std::string_view NamedDateReader::word() const {
    std::size_t end = 0;
    while (const std::size_t length = letter_length(rest_.substr(end))) {
        end += length;
    }
    return rest_.substr(0, end);
}

TOTOGRAPH_INLINE void NamedDateReader::add_name(std::string_view name, char kind) {
    const bool is_all_large = begins_with_capital(name.substr(letter_length(name)));
    date_.pattern += !begins_with_capital(name) ? "_" : is_all_large ? "^" : "";
    date_.pattern += kind;
}

TOTOGRAPH_INLINE void NamedDateReader::take_weekday() {
    const std::string_view name = word();
    const std::string_view mark = rest_.substr(name.size()).starts_with(", ") ? ", " : " ";
    if (!is_weekday(name) || !rest_.substr(name.size()).starts_with(mark)) {
        return;
    }
    add_name(name, name.size() == 3 ? 'a' : 'A');
    date_.pattern += mark;
    take(name.size() + mark.size());
}

TOTOGRAPH_INLINE bool NamedDateReader::take_month() {
    const std::string_view name = word();
    const MonthName found = date_.month > 0 ? MonthName{} : find_month_name(name);
    if (found.month == 0) {
        return false;
    }
    date_.month = found.month;
    date_.month_spellings = found.spellings;
    add_name(name, 'b');
    take(name.size());
    take_point(found);
    return true;
}

TOTOGRAPH_INLINE void NamedDateReader::take_point(const MonthName& month) {
    if (!rest_.starts_with('.')) {
        return;
    }
    const char next = rest_.size() > 1 ? rest_[1] : ' ';
    const bool is_short = is_short_name(month);
    const bool is_separator = rest_.size() > 1 && !is_short && next == ' ';
    if (rest_.starts_with('.') && next != '.' && !is_digit(next) && !is_separator) {
        date_.pattern += is_short ? 'p' : '.';
        take(1);
    }
}

TOTOGRAPH_INLINE MonthSpellingSet likely_spellings(std::string_view pattern, MonthSpellingSet spellings) {
    std::string plain(pattern);  // without the marks of capitals and of small letters
    std::erase_if(plain, [](char mark) { return mark == '_' || mark == '^'; });
    const auto has = [&](std::string_view part) { return plain.find(part) != std::string::npos; };
    // In "1.mai.2024" and "Apr.30.24" the points are separators.
    const bool has_point_separators = has("b.Y") || has("b.y") || has("b.D") || has("b.d");
    const auto prefer = [&](MonthSpellingSet likely) {
        spellings = (spellings & likely) != 0 ? spellings & likely : spellings;
    };
    if (has("e")) {
        prefer(spellings_of("French"));
    }
    if (has("f")) {
        prefer(spellings_of("Spanish") | spellings_of("Portuguese"));
    }
    if (has("d. b") || has("D. b") || (!has_point_separators && (has("d.b") || has("D.b")))) {
        prefer(pattern.find("_b") == std::string_view::npos ? spellings_of("German")
                                                            : spellings_of("Norwegian") | spellings_of("Danish") |
                                                                  spellings_of("Finnish") | spellings_of("Czech"));
    }
    if (pattern.find("_b") != std::string_view::npos) {
        prefer(~spellings_of("German"));
        constexpr MonthSpellingSet usual_short_ones = 1;
        static_assert(month_spellings[0].language == "English" && !month_spellings[0].is_whole,
                      "The first spelling of months is not that of short English names.");
        const bool has_point = has("p") || (has("b.") && !has_point_separators);
        if ((spellings & usual_short_ones) == 0 || has_point) {
            prefer(~spellings_of("English"));
        }
    }
    return spellings;
}

}  // namespace detail

TOTOGRAPH_INLINE std::optional<NamedDate> take_named_date(std::string_view& text) {
    if (text.size() < 6) {
        return std::nullopt;
    }
    // Most dates are spelled otherwise, and end here.
    const char word = text[4] == ' ' ? text[5] : text[4];
    const bool may_be_worded = word == '\xE5' || word == '\xEB' || text.substr(4, 2) == ". ";
    if (may_be_worded) {
        if (std::optional<NamedDate> date = take_worded_date(text)) {
            return date;
        }
    }
    if (text[4] == 'W' || text[5] == 'W') {
        if (std::optional<NamedDate> date = take_week_date(text)) {
            return date;
        }
    }
    const auto may_be_letter = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (static_cast<unsigned char>(letter) & 0x80U) != 0;
    };
    const std::string_view front = text.substr(0, 12);
    if (std::none_of(front.begin(), front.end(), may_be_letter)) {
        return std::nullopt;
    }
    detail::NamedDateReader reader(text);
    std::optional<NamedDate> date = reader.read();
    text = date ? reader.rest() : text;
    return date;
}

TOTOGRAPH_INLINE void join_pattern(std::string& later, std::string_view earlier) {
    if (later == earlier) {
        return;
    }
    std::string joined = later;
    std::string before(earlier);
    // A whole name among short ones has no point.
    const auto add_point = [](std::string& without, std::string_view with) {
        if (const std::size_t point = with.find('p');
            point != std::string_view::npos && without.size() + 1 == with.size()) {
            without.insert(point, "p");
        }
    };
    add_point(joined, before);
    add_point(before, joined);
    if (joined.size() != before.size()) {
        return;
    }
    for (std::size_t i = 0; i < joined.size(); ++i) {
        const auto are_both = [&](std::string_view kinds) {
            return kinds.find(joined[i]) != std::string_view::npos && kinds.find(before[i]) != std::string_view::npos;
        };
        const bool is_day = are_both("dDe");
        const bool is_month = are_both("nN");
        const bool is_point = are_both("p.");
        if (joined[i] == before[i]) {
            continue;
        }
        if (!is_day && !is_month && !is_point) {
            return;
        }
        joined[i] = is_point ? '.' : is_month ? 'n' : joined[i] == 'e' || before[i] == 'e' ? 'e' : 'd';
    }
    later = std::move(joined);
}

TOTOGRAPH_INLINE std::string named_date_text(const std::chrono::year_month_day& date, std::string_view pattern,
                                             MonthSpellingSet spellings) {
    const auto two_digits = [](unsigned value) {
        return std::string{static_cast<char>('0' + value / 10 % 10), static_cast<char>('0' + value % 10)};
    };
    const auto month = static_cast<unsigned>(date.month());
    const MonthSpelling& spelling = detail::first_spelling(detail::likely_spellings(pattern, spellings));
    const auto day = static_cast<unsigned>(date.day());
    const int year = static_cast<int>(date.year());
    const std::chrono::weekday of_week(date);
    const std::string_view weekday = detail::weekday_names[of_week.c_encoding()];
    // The Thursday of a week tells the year that it counts to.
    const auto thursday = std::chrono::sys_days(date) + std::chrono::days(4 - static_cast<int>(of_week.iso_encoding()));
    const std::chrono::year year_of_week = std::chrono::year_month_day(thursday).year();
    const auto days_before = thursday - std::chrono::sys_days(year_of_week / std::chrono::January / 1);
    std::string text;
    char letters = '\0';
    const auto add_name = [&](std::string_view name) {
        const std::size_t large = letters == '_' ? 0 : letters == '^' ? name.size() : detail::letter_length(name);
        text += detail::in_capitals(name.substr(0, large));
        text += name.substr(large);
        letters = '\0';
    };
    for (const char part : pattern) {
        switch (part) {
            case 'd': text += std::to_string(day); break;
            case 'D': text += two_digits(day); break;
            case 'e': text += day == 1 ? "1er" : std::to_string(day); break;
            case 'a': add_name(weekday.substr(0, 3)); break;
            case 'A': add_name(weekday); break;
            case 'b': add_name(spelling.name(month - 1)); break;
            case 'p': text += detail::is_whole_name(spelling, month - 1) ? "" : "."; break;
            case 'f':
                letters = letters == '^' ? '^' : '_';
                add_name("de");
                text += ' ';
                break;
            case 'q': text += std::to_string((month + 2) / 3); break;
            case 'y': text += two_digits(static_cast<unsigned>(year % 100)); break;
            case 'Y': text += std::to_string(year); break;
            case 'n': text += std::to_string(month); break;
            case 'N': text += two_digits(month); break;
            case 'G': text += std::to_string(static_cast<int>(year_of_week)); break;
            case 'V': text += two_digits(static_cast<unsigned>(days_before.count() / 7 + 1)); break;
            case 'u': text += std::to_string(of_week.iso_encoding()); break;
            case '^':
            case '_': letters = part; break;
            default: text += part; break;
        }
    }
    return text;
}

}  // namespace totograph::io
