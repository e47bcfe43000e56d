// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/series_labels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE std::size_t count_numbers(const LabelNumbers& numbers) {
    return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
}

TOTOGRAPH_INLINE LabelNumbers number_pairs(const LabelNumbers& first, const LabelNumbers& second) {
    const std::uint64_t seconds = count_numbers(second);
    std::unordered_map<std::uint64_t, std::size_t> known;
    LabelNumbers pairs;
    pairs.reserve(first.size());
    for (std::size_t row = 0; row < first.size(); ++row) {
        pairs.push_back(known.emplace(first[row] * seconds + second[row], known.size()).first->second);
    }
    return pairs;
}

TOTOGRAPH_INLINE std::size_t told_apart(LabelNumbers rows, const std::vector<LabelNumbers>& labels,
                                        const std::vector<std::size_t>& chosen) {
    for (const std::size_t label : chosen) {
        rows = number_pairs(rows, labels[label]);
    }
    return count_numbers(rows);
}

TOTOGRAPH_INLINE std::vector<std::size_t> vaguest_first(const std::vector<LabelNumbers>& labels,
                                                        const std::vector<std::size_t>& given) {
    std::vector<std::pair<std::size_t, std::size_t>> counted;
    for (std::size_t label = 0; label < labels.size(); ++label) {
        const std::size_t count = count_numbers(labels[label]);
        if (count > 1 && std::find(given.begin(), given.end(), label) == given.end()) {
            counted.emplace_back(count, label);
        }
    }
    std::sort(counted.begin(), counted.end());
    std::vector<std::size_t> order;
    order.reserve(counted.size());
    for (const auto& [count, label] : counted) {
        order.push_back(label);
    }
    return order;
}

TOTOGRAPH_INLINE bool names_series(const LabelNumbers& labels) {
    return 2 * count_numbers(labels) <= labels.size();
}

TOTOGRAPH_INLINE LabelNumbers number_times(const std::vector<std::int64_t>& times) {
    std::unordered_map<std::int64_t, std::size_t> known;
    LabelNumbers numbers;
    numbers.reserve(times.size());
    for (const std::int64_t time : times) {
        numbers.push_back(known.emplace(time, known.size()).first->second);
    }
    return numbers;
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<std::size_t> fewest_labels(const std::vector<std::int64_t>& times,
                                                        const std::vector<LabelNumbers>& labels,
                                                        const std::vector<std::size_t>& given) {
    std::vector<std::size_t> others = detail::vaguest_first(labels, given);
    LabelNumbers rows = detail::number_times(times);
    for (const std::size_t label : given) {
        rows = detail::number_pairs(rows, labels[label]);
    }
    const std::size_t most = detail::told_apart(rows, labels, others);
    std::vector<std::size_t> chosen = given;
    const auto single = std::find_if(others.begin(), others.end(), [&](std::size_t label) {
        return detail::names_series(labels[label]) && detail::told_apart(rows, labels, {label}) == most;
    });
    if (single != others.end() && detail::count_numbers(rows) < most) {
        others = {*single};
    }
    // The most particular one goes first, where the others are enough.
    for (std::size_t left = others.size(); left-- > 0;) {
        std::vector<std::size_t> fewer = others;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left));
        if (detail::told_apart(rows, labels, fewer) == most) {
            others = std::move(fewer);
        }
    }
    chosen.insert(chosen.end(), others.begin(), others.end());
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

TOTOGRAPH_INLINE std::vector<std::size_t> labels_of_series(const std::vector<std::int64_t>& times,
                                                           const std::vector<LabelNumbers>& labels,
                                                           const std::vector<std::size_t>& given) {
    std::vector<LabelNumbers> naming = labels;
    for (std::size_t label = 0; label < naming.size(); ++label) {
        const bool is_given = std::find(given.begin(), given.end(), label) != given.end();
        if (!is_given && !detail::names_series(naming[label])) {
            naming[label].assign(times.size(), 0);  // as if it said nothing
        }
    }
    const std::vector<std::size_t> chosen = fewest_labels(times, naming, given);
    const std::size_t series = detail::told_apart(LabelNumbers(times.size(), 0), naming, chosen);
    return 2 * series <= times.size() ? chosen : given;
}

}  // namespace totograph::io
