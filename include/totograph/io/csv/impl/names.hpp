// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/names.hpp>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE ColumnNames unique_names(std::vector<std::string> given) {
    ColumnNames result;
    const std::unordered_set<std::string> reserved(given.begin(), given.end());
    std::unordered_set<std::string> taken;
    std::unordered_map<std::string, std::size_t> counts;
    for (std::size_t position = 0; position < given.size(); ++position) {
        std::string& name = given[position];
        if (!name.empty() && taken.insert(name).second) {
            result.names.push_back(std::move(name));
            continue;
        }
        const std::string base = name.empty() ? "column" : name;
        std::size_t& count = name.empty() ? counts.emplace("", 1).first->second : counts.emplace(name, 1).first->second;
        std::string free = name.empty() ? base + "_" + std::to_string(position + 1) : "";
        while (free.empty() || reserved.contains(free) || !taken.insert(free).second) {
            free = base + "_" + std::to_string(++count);
        }
        if (!name.empty() && result.renamed.empty()) {
            result.renamed = name;
            result.new_name = free;
        }
        result.names.push_back(std::move(free));
    }
    return result;
}

TOTOGRAPH_INLINE std::string name_list(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 12;
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < shown; ++i) {
        list += (i == 0 ? "" : ", ") + in_quotes(names[i], 40);
    }
    return names.size() <= shown ? list : list + " and " + std::to_string(names.size() - shown) + " others";
}

}  // namespace totograph::io
