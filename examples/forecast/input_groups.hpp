// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>

#include "../common/format.hpp"
#include "../common/model_sizes.hpp"
#include "../intake/column_groups.hpp"
#include "series_input.hpp"

// An input with more columns than a model takes at once.
namespace examples {

/// Target columns beside which the exogenous ones fit.
inline std::size_t targets_at_once(const SeriesInput& input, const ModelSizes& most) {
    return static_cast<std::size_t>(most.variates) - input.exogenous.size();
}

/// Which targets are forecast together. Throws `Error(no_bucket)` when there are too many exogenous columns to have in
/// each group.
inline std::vector<ColumnGroup> input_groups(const SeriesInput& input, const ModelSizes& most) {
    const auto exogenous = static_cast<std::int64_t>(input.exogenous.size());
    const std::int64_t takes = input.future_exogenous.empty() ? most.variates - 1 : most.known;
    if (exogenous > takes) {
        throw totograph::Error(totograph::ErrorCode::no_bucket,
                               "The model takes at most " + plural(takes, "exogenous column") +
                                   (input.future_exogenous.empty() ? "" : " whose future is known") +
                                   ", but --exogenous names " + std::to_string(exogenous) + "; leave some out.");
    }
    return divide_columns(input.targets.size(), targets_at_once(input, most));
}

/// What the user should read about groups; empty where all columns saw each other, or none should.
inline std::string input_groups_note(const SeriesInput& input, const ModelSizes& most, bool independent) {
    return independent ? "" : groups_note(input_groups(input, most), input.targets, targets_at_once(input, most));
}

/// The input with some of its targets alone, and all of its exogenous columns: what a forecast reads of it.
inline SeriesInput columns_of(const SeriesInput& input, const ColumnGroup& group) {
    SeriesInput part;
    part.exogenous = input.exogenous;
    part.future_exogenous = input.future_exogenous;
    part.first_row = input.first_row;
    part.steps = input.steps;
    part.horizon = input.horizon;
    const auto steps = static_cast<std::ptrdiff_t>(input.steps);
    const auto add = [&](std::size_t first, std::size_t count) {
        const auto copy = [&](const auto& from, auto& to, std::ptrdiff_t row) {
            const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first) * row;
            to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count) * row);
        };
        copy(input.levels, part.levels, 1);
        copy(input.groups, part.groups, 1);
        copy(input.values, part.values, steps);
        copy(input.observed, part.observed, steps);
    };
    const auto begin = input.targets.begin() + static_cast<std::ptrdiff_t>(group.first);
    part.targets.assign(begin, begin + static_cast<std::ptrdiff_t>(group.count));
    add(group.first, group.count);
    add(input.targets.size(), input.exogenous.size());
    return part;
}

}  // namespace examples
