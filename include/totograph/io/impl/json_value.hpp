// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/json_value.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE JsonValue JsonValue::object(std::vector<JsonValue> members) {
    std::sort(members.begin(), members.end(), [](const JsonValue& a, const JsonValue& b) { return a.name_ < b.name_; });
    return {Kind::object, std::move(members)};
}

TOTOGRAPH_INLINE std::span<const JsonValue> JsonValue::items() const noexcept {
    return items_;
}

TOTOGRAPH_INLINE std::optional<std::int64_t> JsonValue::integer() const {
    if (kind_ == Kind::integer) {
        return bits_.integer;
    }
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return kind_ == Kind::whole && bits_.whole <= most ? std::optional(static_cast<std::int64_t>(bits_.whole))
                                                       : std::nullopt;
}

TOTOGRAPH_INLINE std::optional<double> JsonValue::number() const {
    switch (kind_) {
        case Kind::integer: return static_cast<double>(bits_.integer);
        case Kind::whole: return static_cast<double>(bits_.whole);
        case Kind::number: return bits_.number;
        default: return std::nullopt;
    }
}

TOTOGRAPH_INLINE const JsonValue* JsonValue::find(std::string_view name) const {
    if (!is_object()) {
        return nullptr;
    }
    const auto found = std::lower_bound(items_.begin(), items_.end(), name,
                                        [](const JsonValue& a, std::string_view b) { return a.name_ < b; });
    return found != items_.end() && found->name_ == name ? &*found : nullptr;
}

TOTOGRAPH_INLINE std::string_view JsonValue::type_name() const noexcept {
    switch (kind_) {
        case Kind::null: return "null";
        case Kind::boolean: return "boolean";
        case Kind::integer:
        case Kind::whole:
        case Kind::number: return "number";
        case Kind::string: return "string";
        case Kind::array: return "array";
        case Kind::object: break;
    }
    return "object";
}

}  // namespace totograph::io
