// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/units.hpp>

#include <optional>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE std::optional<KnownUnit> known_unit(std::string_view name) {
    if (name.empty()) {
        return KnownUnit{name, 'n', 1};
    }
    for (const KnownUnit& unit : known_units) {
        if (unit.name == name) {
            return unit;
        }
    }
    return std::nullopt;
}

}  // namespace detail

TOTOGRAPH_INLINE std::optional<double> unit_factor(std::string_view from, std::string_view to) {
    if (from == to) {
        return 1;
    }
    constexpr std::string_view rate = "/s";
    if (from.ends_with(rate) && to.ends_with(rate)) {
        from.remove_suffix(rate.size());
        to.remove_suffix(rate.size());
    }
    const auto source = detail::known_unit(from);
    const auto target = detail::known_unit(to);
    if (!source || !target || source->family != target->family) {
        return std::nullopt;
    }
    return source->factor / target->factor;
}

}  // namespace totograph::io
