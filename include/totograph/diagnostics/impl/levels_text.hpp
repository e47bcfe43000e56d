// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/levels_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <totograph/core/inline.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE std::string levels_text(std::span<const double> levels) {
    std::string text;
    for (const double level : levels) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), level).ptr;
        text += text.empty() ? "" : " ";
        text.append(digits.data(), end);
    }
    return text;
}

TOTOGRAPH_INLINE std::optional<std::vector<double>> parse_levels(std::string_view text) {
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
