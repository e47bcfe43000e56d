// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/worded_date.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/field_reader.hpp>
#include <totograph/io/time/named_date.hpp>

namespace totograph::io {
namespace detail {

/// What stands behind a year, a month and a day.
using DateWords = std::array<std::string_view, 3>;
inline constexpr std::array<DateWords, 4> date_words = {
    {{"年", "月", "日"}, {"年", "月", "号"}, {"년", "월", "일"}, {". ", ". ", "."}}};

/// Reads a date with the words of one language. Blanks may stand before and behind words.
class WordedDateReader {
public:
    explicit WordedDateReader(std::string_view text) : fields_(text) {}

    std::optional<NamedDate> read(const DateWords& words) {
        const bool are_points = words[0].starts_with('.');
        const bool has_month = number(4, 4, date_.year, "Y", "Y") && word(words[0]) &&
                               number(1, 2, date_.month, "n", "N") && word(words[1]);
        if (!has_month) {
            return std::nullopt;
        }
        if (fields_.done()) {
            return are_points ? std::nullopt : std::optional(date_);
        }
        date_.has_day = number(1, 2, date_.day, "d", "D") && word(words[2]);
        return date_.has_day ? std::optional(date_) : std::nullopt;
    }

    [[nodiscard]] std::string_view rest() const { return fields_.rest(); }

private:
    bool number(std::size_t least, std::size_t most, std::int64_t& value, std::string_view one_digit,
                std::string_view two_digits) {
        date_.pattern += fields_.symbol(' ') ? " " : "";
        const std::size_t count = fields_.numeral(most, value);
        date_.pattern += count == 1 ? one_digit : two_digits;
        return count >= least;
    }

    bool word(std::string_view word) {
        date_.pattern += fields_.symbol(' ') ? " " : "";
        date_.pattern += word;
        return fields_.word(word);
    }

    FieldReader fields_;
    NamedDate date_;
};

}  // namespace detail

TOTOGRAPH_INLINE std::optional<NamedDate> take_worded_date(std::string_view& text) {
    for (const detail::DateWords& words : detail::date_words) {
        detail::WordedDateReader reader(text);
        if (std::optional<NamedDate> date = reader.read(words)) {
            text = reader.rest();
            return date;
        }
    }
    return std::nullopt;
}

}  // namespace totograph::io
