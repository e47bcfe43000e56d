// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <totograph/io/csv/decimal.hpp>

namespace totograph::io {

/// The words that stand where nothing was observed, whatever the case of their letters.
class GapWords {
public:
    /// `more` are words besides the usual ones ("NaN", "NA", "N/A", "null", "None", "-", "Inf" and the like).
    explicit GapWords(const std::vector<std::string>& more = {})
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
            has_numbers_ = has_numbers_ || parse_decimal(word).kind == DecimalKind::number;
            longest_ = std::max(longest_, word.size());
        }
    }

    /// Whether a cell that is not empty means a gap.
    [[nodiscard]] bool hold(std::string_view cell) const {
        return cell.size() <= longest_ && words_.contains(lower_case(cell));
    }

    /// Whether any of the words is a number, such as -999.
    [[nodiscard]] bool has_numbers() const { return has_numbers_; }

private:
    static std::string lower_case(std::string_view text) {
        std::string lower(text);
        std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
            return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
        });
        return lower;
    }

    std::unordered_set<std::string> words_;
    bool has_numbers_ = false;
    std::size_t longest_ = 9;  // of the usual ones
};

}  // namespace totograph::io
