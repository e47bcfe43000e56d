// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/text.hpp>
#include <totograph/models/kronos/candles.hpp>

#include "refuse_candles.hpp"

namespace examples {

/// The column of a table that has a role in candles.
struct RoleColumn {
    std::size_t position;
    bool is_stand_in;  ///< Its name is one that the user should be told of, such as a price that is taken for a close.
};

namespace detail {

/// Names of a role. One of an earlier group is meant where a file has names of several.
struct RoleNames {
    std::vector<std::vector<std::string_view>> groups;
    std::size_t stand_ins;  ///< Groups from this one on stand in for the role.
};

inline const RoleNames& names_of_role(totograph::kronos::Column role) {
    static const std::array<RoleNames, totograph::kronos::column_count> names = {{
        {.groups = {{"open"}, {"open_price", "o"}}, .stand_ins = 2},
        {.groups = {{"high"}, {"high_price", "h"}}, .stand_ins = 2},
        {.groups = {{"low"}, {"low_price", "l"}}, .stand_ins = 2},
        {.groups = {{"close"}, {"close_price", "Close/Last", "c"}, {"price"}, {"adj_close", "adjusted_close"}},
         .stand_ins = 2},
        {.groups = {{"volume"}, {"vol", "v"}, {"tickvol", "tick_volume"}}, .stand_ins = 2},
        {.groups = {{"amount"}}, .stand_ins = 1},
    }};
    return names[static_cast<std::size_t>(role)];
}

/// A name in small letters and digits, without a number before it: `open` of "1. open", "<OPEN>" and "Open".
inline std::string bare_name(std::string_view name) {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits > 0 && digits < name.size() && name[digits] == '.') {
        name.remove_prefix(digits);
    }
    return totograph::io::plain_name(name);
}

inline std::string role_name(totograph::kronos::Column role) {
    return std::string(totograph::kronos::column_names[static_cast<std::size_t>(role)]);
}

[[noreturn]] inline void refuse_missing_role(totograph::kronos::Column role, const std::vector<std::string>& columns,
                                             const std::string& file) {
    std::string accepted;
    for (const std::vector<std::string_view>& group : names_of_role(role).groups) {
        for (const std::string_view name : group) {
            accepted += (accepted.empty() ? "" : ", ") + std::string(name);
        }
    }
    const std::string name = role_name(role);
    std::string capitals = name;
    std::transform(name.begin(), name.end(), capitals.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    refuse_candles("The file " + file + " has no column of numbers '" + name +
                   "'; candles need open, high, low and close. Names for it are " + accepted + ", also as <" +
                   capitals + "> or 1. " + name + ". Its columns of numbers are: " + totograph::io::name_list(columns) +
                   ".");
}

}  // namespace detail

/// The column of a role, by its name; nothing where no name fits. Throws `Error(invalid_file)` where two fit equally.
inline std::optional<RoleColumn> find_role(const std::vector<std::string>& columns, totograph::kronos::Column role,
                                           const std::string& file) {
    const detail::RoleNames& names = detail::names_of_role(role);
    for (std::size_t group = 0; group < names.groups.size(); ++group) {
        std::optional<RoleColumn> found;
        for (std::size_t position = 0; position < columns.size(); ++position) {
            const std::string bare = detail::bare_name(columns[position]);
            const bool fits =
                std::any_of(names.groups[group].begin(), names.groups[group].end(),
                            [&](std::string_view name) { return totograph::io::plain_name(name) == bare; });
            if (fits && found) {
                detail::refuse_candles("The file " + file + " has two columns that may be " + detail::role_name(role) +
                                       ", " + totograph::io::in_quotes(columns[found->position]) + " and " +
                                       totograph::io::in_quotes(columns[position]) +
                                       "; leave one out, or give it another name.");
            }
            if (fits) {
                found = {.position = position, .is_stand_in = group >= names.stand_ins};
            }
        }
        if (found) {
            return found;
        }
    }
    return std::nullopt;
}

}  // namespace examples
