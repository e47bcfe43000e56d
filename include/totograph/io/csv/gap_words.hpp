// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace totograph::io {

/// The words that stand where nothing was observed, whatever the case of their letters.
class GapWords {
public:
    /// `more` are words besides the usual ones ("NaN", "NA", "N/A", "null", "None", "-", "Inf" and the like).
    explicit GapWords(const std::vector<std::string>& more = {});

    /// Whether a cell that is not empty means a gap, as far as it tells by itself: it is one of the words, or a number
    /// that is one, also with other decimals (-999.0 for -999) or with a decimal comma. What may have a comma between
    /// thousands (-999,000) tells nothing.
    [[nodiscard]] bool hold(std::string_view cell) const {
        return hold_word(cell) || (has_numbers() && holds_number(cell));
    }

    /// Whether a cell is one of the words.
    [[nodiscard]] bool hold_word(std::string_view cell) const {
        return cell.size() <= longest_ && words_.contains(lower_case(cell));
    }

    /// Whether a value is one of the words that are numbers.
    [[nodiscard]] bool hold_value(double value) const {
        return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end();
    }

    /// Whether any of the words is a number, such as -999.
    [[nodiscard]] bool has_numbers() const { return !numbers_.empty(); }

private:
    static std::string lower_case(std::string_view text);
    [[nodiscard]] bool holds_number(std::string_view cell) const;

    std::unordered_set<std::string> words_;
    std::vector<double> numbers_;  // of the words those that are numbers
    std::size_t longest_ = 9;      // of the usual ones
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/gap_words.hpp>
#endif
