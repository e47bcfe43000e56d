// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/gap_words.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/number_cell.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE GapWords::GapWords(const std::vector<std::string>& more)
    : words_{"nan",
             "-nan",
             "+nan",
             "na",
             "n/a",
             "#n/a",
             "<na>",
             "null",
             "nil",
             "none",
             "-",
             "--",
             "\\n",
             "nat",
             "inf",
             "-inf",
             "+inf",
             "infinity",
             "-infinity",
             "+infinity",
             "undefined",
             "missing",
             "\xe2\x80\x93",
             "\xe2\x80\x94",
             "\xe2\x88\x9e",
             "-\xe2\x88\x9e"} {
    for (const std::string& word : more) {
        words_.insert(lower_case(word));
        if (const Decimal number = parse_decimal(word); number.kind == DecimalKind::number) {
            numbers_.push_back(number.value);
        }
        longest_ = std::max(longest_, word.size());
    }
}

TOTOGRAPH_INLINE bool GapWords::holds_number(std::string_view cell) const {
    std::string plain(cell);
    if (const std::size_t comma = plain.find(','); comma != std::string::npos) {
        if (evidence_of(plain).has_unclear_comma) {
            return false;
        }
        plain[comma] = '.';  // two marks are no number
    }
    const Decimal number = parse_decimal(plain);
    return number.kind == DecimalKind::number && hold_value(number.value);
}

TOTOGRAPH_INLINE std::string GapWords::lower_case(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return lower;
}

}  // namespace totograph::io
