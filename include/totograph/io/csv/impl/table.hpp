// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/table.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::optional<std::size_t> Table::find(std::string_view name) const {
    const auto position = std::find(names.begin(), names.end(), name);
    if (position == names.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(position - names.begin());
}

}  // namespace totograph::io
