// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "../common/format.hpp"
#include "../common/text.hpp"

namespace examples {

/// Neighbouring columns that are forecast in one request.
struct ColumnGroup {
    std::size_t first = 0;
    std::size_t count = 0;

    friend bool operator==(const ColumnGroup&, const ColumnGroup&) = default;
};

/// As few groups of at most `most` columns as there can be, of sizes that differ by one at most: a column that is left
/// over would see no other. The first group is the largest.
inline std::vector<ColumnGroup> divide_columns(std::size_t columns, std::size_t most) {
    const std::size_t count = (columns + most - 1) / most;
    std::vector<ColumnGroup> groups;
    for (std::size_t i = 0, first = 0; i < count; ++i) {
        groups.push_back({first, columns / count + (i < columns % count ? 1 : 0)});
        first += groups.back().count;
    }
    return groups;
}

/// Which columns saw each other, for users who did not ask that they should not; empty where all did.
inline std::string groups_note(const std::vector<ColumnGroup>& groups, const std::vector<std::string>& names,
                               std::size_t most) {
    if (groups.size() < 2) {
        return "";
    }
    constexpr std::size_t shown = 4;
    const auto name = [&](std::size_t column) { return "'" + printable(shortened(names[column], 40)) + "'"; };
    std::string text = "The model takes " + std::to_string(most) + " columns at once. These saw each other: ";
    for (std::size_t i = 0; i < std::min(groups.size(), shown); ++i) {
        const ColumnGroup& group = groups[i];
        text += i == 0 ? "" : "; ";
        text += name(group.first);
        text += group.count > 1 ? " to " + name(group.first + group.count - 1) : "";
    }
    return text + (groups.size() > shown ? "; and so on, " + plural(static_cast<std::int64_t>(groups.size()), "group") +
                                               " in the order of the file."
                                         : ".");
}

}  // namespace examples
