// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/checkpoint/model_config.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_text.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE ModelConfig ModelConfig::parse(std::string_view text, std::string_view file_name) {
    constexpr JsonLimits limits{.values = 100'000, .not_finite = true};
    return ModelConfig(parse_json(text, "The configuration " + in_quotes(file_name, longest_quote), limits),
                       std::string(file_name));
}

TOTOGRAPH_INLINE const JsonValue* ModelConfig::find(std::string_view key) const {
    const JsonValue* value = &document_;
    while (true) {
        const std::size_t dot = key.find('.');
        value = child(*value, key.substr(0, dot));
        if (value == nullptr || dot == std::string_view::npos) {
            return value;
        }
        key.remove_prefix(dot + 1);
    }
}

TOTOGRAPH_INLINE const JsonValue* ModelConfig::child(const JsonValue& parent, std::string_view step) {
    if (parent.is_object()) {
        return parent.find(step);
    }
    std::size_t index = 0;
    const auto result = std::from_chars(step.data(), step.data() + step.size(), index);
    const bool is_index = result.ec == std::errc{} && result.ptr == step.data() + step.size();
    return parent.is_array() && is_index && index < parent.items().size() ? &parent.items()[index] : nullptr;
}

TOTOGRAPH_INLINE std::string ModelConfig::spelled(const JsonValue& value) {
    constexpr std::size_t longest = 120;
    if (const std::optional<double> number = value.number(); number && !std::isfinite(*number)) {
        return std::isnan(*number) ? "NaN" : *number > 0 ? "Infinity" : "-Infinity";
    }
    std::string text;
    append_json(text, value);  // all that was read is UTF-8
    return printable(text, longest);
}

TOTOGRAPH_INLINE std::string ModelConfig::found(std::string_view key) const {
    if (const JsonValue* const value = find(key); value != nullptr) {
        return spelled(*value);
    }
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1)) {
        if (is_null(key.substr(0, dot))) {
            return "nothing, because " + in_quotes(key.substr(0, dot)) + " is null";
        }
    }
    return "nothing";
}

TOTOGRAPH_INLINE ConfigCheck& ConfigCheck::text(std::string_view key, std::string_view expected,
                                                std::optional<std::string_view> if_absent) {
    compare(key, ModelConfig::as_text(config_.find(key)), std::string(expected),
            if_absent ? std::optional(std::string(*if_absent)) : std::nullopt);
    return *this;
}

TOTOGRAPH_INLINE void ConfigCheck::finish() const {
    if (differences_.empty()) {
        return;
    }
    std::string message = "The configuration " + in_quotes(config_.file_name(), longest_quote) +
                          " differs from the compiled model in " + std::to_string(differences_.size()) +
                          (differences_.size() == 1 ? " field:" : " fields:");
    for (const std::string& difference : differences_) {
        message += "\n  " + difference;
    }
    throw Error(ErrorCode::config_mismatch,
                message + "\nCompile a configuration with these values, or use the checkpoint that fits.");
}

}  // namespace totograph::io
