// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../common/metrics.hpp"

namespace examples {

namespace detail {

template <class Score, class Visit>
void visit_numbers(Score& score, Visit visit) {
    visit(score.steps);
    visit(score.scale);
    visit(score.magnitude);
    for (auto* sums : {&score.model, &score.naive}) {
        visit(sums->absolute_error);
        visit(sums->quantile_loss);
        for (auto& count : sums->inside) {
            visit(count);
        }
    }
}

}  // namespace detail

/// Scores as numbers with blanks between them, which read back exactly.
inline std::string score_text(const std::vector<Score>& scores) {
    std::string text;
    for (const Score& score : scores) {
        detail::visit_numbers(score, [&](auto value) {
            std::array<char, 32> buffer{};
            const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
            text.append(text.empty() ? "" : " ").append(buffer.data(), written.ptr);
        });
    }
    return text;
}

/// The scores back; nothing when the text does not hold just so many.
inline std::optional<std::vector<Score>> parse_scores(std::string_view text, std::size_t count) {
    std::vector<Score> scores(count);
    bool good = true;
    for (Score& score : scores) {
        detail::visit_numbers(score, [&](auto& value) {
            const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
            good = good && read.ec == std::errc();
            text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
            text.remove_prefix(!text.empty() && text.front() == ' ' ? 1 : 0);
        });
    }
    return good && text.empty() ? std::optional(std::move(scores)) : std::nullopt;
}

}  // namespace examples
