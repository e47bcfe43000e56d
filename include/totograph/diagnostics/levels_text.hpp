// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// Levels of quantiles as text, for files and messages.
namespace totograph::serve::detail {

/// The levels with a space between two, each with as few digits as tell it: `0.1 0.5 0.9`.
inline std::string levels_text(std::span<const double> levels) {
    std::string text;
    for (const double level : levels) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), level).ptr;
        text += text.empty() ? "" : " ";
        text.append(digits.data(), end);
    }
    return text;
}

/// What `levels_text` wrote; nothing where that is not what it is: levels between 0 and 1, each larger than the one
/// before it.
inline std::optional<std::vector<double>> parse_levels(std::string_view text) {
    std::vector<double> levels;
    const char* at = text.data();
    const char* const end = at + text.size();
    do {
        double level = 0;
        const auto [next, error] = std::from_chars(levels.empty() ? at : at + 1, end, level);
        if (error != std::errc() || (next != end && *next != ' ')) {
            return std::nullopt;
        }
        levels.push_back(level);
        at = next;
    } while (at != end);
    const auto falls = [](double level, double next) { return !(level < next); };  // so does NaN
    const bool ascend = std::adjacent_find(levels.begin(), levels.end(), falls) == levels.end();
    return ascend && levels.front() > 0 && levels.back() < 1 ? std::optional(levels) : std::nullopt;
}

}  // namespace totograph::serve::detail
