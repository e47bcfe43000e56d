// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format.hpp"
#include "text.hpp"

namespace examples {

/// The names among which `chosen` holds, for a sentence: "'a', 'b' and 3 more"; empty when it holds for none.
template <class Chosen>
std::string names_where(const std::vector<std::string>& names, const Chosen& chosen) {
    constexpr std::size_t most = 3;
    std::vector<std::string> chosen_names;
    for (std::size_t at = 0; at < names.size(); ++at) {
        if (chosen(at)) {
            chosen_names.push_back("'" + shortened(printable(names[at]), 40) + "'");
        }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(chosen_names.size(), most); ++i) {
        const bool last = i + 1 == chosen_names.size();
        text += (i == 0 ? "" : last ? " and " : ", ") + chosen_names[i];
    }
    return chosen_names.size() > most
               ? text + " and " + count_text(static_cast<std::int64_t>(chosen_names.size() - most)) + " more"
               : text;
}

}  // namespace examples
