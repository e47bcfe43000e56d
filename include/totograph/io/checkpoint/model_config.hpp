// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/text_file.hpp>

namespace totograph::io {

/// The `config.json` of a checkpoint.
///
/// Keys are paths: names and array positions joined by dots, like `hidden_size`, `rope_scaling.factor` or
/// `architectures.0`. A path that leads through `null` finds nothing. A field that is there but null is of another type
/// than any that was asked for. Infinity and -Infinity are numbers, as Python writes them. NaN may be there as well,
/// but is of another type than a number.
class ModelConfig {
public:
    /// Reads a file. Throws `Error(file_not_found)` when it cannot be opened or is no regular file, and as `parse`
    /// does.
    explicit ModelConfig(const std::string& path)
        : ModelConfig(parse(read_regular_text_file(path, largest_file), path)) {}

    /// Reads text. Throws `Error(invalid_file)` when it is not one JSON object with unique keys.
    [[nodiscard]] static ModelConfig parse(std::string_view text, std::string_view file_name);

    [[nodiscard]] const std::string& file_name() const noexcept { return file_name_; }

    /// Whether the field is there, be it null.
    [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }

    /// Whether the field is there and null.
    [[nodiscard]] bool is_null(std::string_view key) const {
        const JsonValue* const value = find(key);
        return value != nullptr && value->is_null();
    }

    /// The field as a whole number. Throws `Error(config_mismatch)` when it is missing or anything else; 8.0 is not a
    /// whole number.
    [[nodiscard]] Index integer(std::string_view key) const { return require(key, as_integer(find(key)), "integer"); }

    /// The field as a number, whole or not. Throws `Error(config_mismatch)` when it is missing or anything else.
    [[nodiscard]] double number(std::string_view key) const { return require(key, as_number(find(key)), "number"); }

    /// The field as a boolean. Throws `Error(config_mismatch)` when it is missing or anything else.
    [[nodiscard]] bool boolean(std::string_view key) const { return require(key, as_boolean(find(key)), "boolean"); }

    /// The field as text. Throws `Error(config_mismatch)` when it is missing or anything else.
    [[nodiscard]] std::string text(std::string_view key) const { return require(key, as_text(find(key)), "string"); }

    /// As above, but a field that is missing has the value `if_absent`.
    [[nodiscard]] Index integer(std::string_view key, Index if_absent) const {
        return contains(key) ? integer(key) : if_absent;
    }
    [[nodiscard]] double number(std::string_view key, double if_absent) const {
        return contains(key) ? number(key) : if_absent;
    }
    [[nodiscard]] bool boolean(std::string_view key, bool if_absent) const {
        return contains(key) ? boolean(key) : if_absent;
    }
    [[nodiscard]] std::string text(std::string_view key, std::string_view if_absent) const {
        return contains(key) ? text(key) : std::string(if_absent);
    }

private:
    friend class ConfigCheck;

    static constexpr std::size_t largest_file = 16U << 20U;

    ModelConfig(JsonValue document, std::string file_name)
        : document_(std::move(document)), file_name_(std::move(file_name)) {}

    [[nodiscard]] const JsonValue* find(std::string_view key) const;

    static const JsonValue* child(const JsonValue& parent, std::string_view step);

    static std::optional<Index> as_integer(const JsonValue* value) {
        return value != nullptr ? value->integer() : std::nullopt;
    }

    static std::optional<double> as_number(const JsonValue* value) {
        const std::optional<double> number = value != nullptr ? value->number() : std::nullopt;
        return number && std::isnan(*number) ? std::nullopt : number;
    }

    static std::optional<bool> as_boolean(const JsonValue* value) {
        return value != nullptr ? value->boolean() : std::nullopt;
    }

    static std::optional<std::string> as_text(const JsonValue* value) {
        const std::string* const text = value != nullptr ? value->string() : nullptr;
        return text != nullptr ? std::optional(*text) : std::nullopt;
    }

    /// A value as the file spells it, cut when it is long.
    static std::string spelled(const JsonValue& value);

    /// What stands at a key, for a message.
    [[nodiscard]] std::string found(std::string_view key) const;

    template <class Value>
    Value require(std::string_view key, std::optional<Value> value, std::string_view kind) const {
        if (!value) {
            throw Error(ErrorCode::config_mismatch, "The field " + in_quotes(key) + " of the configuration " +
                                                        in_quotes(file_name_, longest_quote) + " must be of the type " +
                                                        std::string(kind) + ", but found " + found(key) + ".");
        }
        return *std::move(value);
    }

    JsonValue document_;
    std::string file_name_;
};

/// Compares a checkpoint's configuration with the one that was compiled, field by field, and reports all differences in
/// one error, so that they need not be met one by one.
///
///     ConfigCheck(config).integer("hidden_size", 512).boolean("tie_embeddings", false, true).finish();
///
/// Keys are those of `ModelConfig`, which must outlive the check. A field that is missing is a difference, unless
/// `if_absent` gives the value that it then has. A field of another type is a difference.
class ConfigCheck {
public:
    explicit ConfigCheck(const ModelConfig& config) : config_(config) {}
    explicit ConfigCheck(ModelConfig&&) = delete;

    /// Takes fields that are null for missing ones, from here on.
    ConfigCheck& null_is_absent() {
        null_is_absent_ = true;
        return *this;
    }

    /// Expects a whole number.
    ConfigCheck& integer(std::string_view key, Index expected, std::optional<Index> if_absent = std::nullopt) {
        compare(key, ModelConfig::as_integer(config_.find(key)), expected, if_absent);
        return *this;
    }

    /// Expects a number, whole or not, that equals the expected one as a double.
    ConfigCheck& number(std::string_view key, double expected, std::optional<double> if_absent = std::nullopt) {
        compare(key, ModelConfig::as_number(config_.find(key)), expected, if_absent);
        return *this;
    }

    /// Expects a boolean.
    ConfigCheck& boolean(std::string_view key, bool expected, std::optional<bool> if_absent = std::nullopt) {
        compare(key, ModelConfig::as_boolean(config_.find(key)), expected, if_absent);
        return *this;
    }

    /// Expects text, compared byte by byte.
    ConfigCheck& text(std::string_view key, std::string_view expected,
                      std::optional<std::string_view> if_absent = std::nullopt);

    /// The differences so far, one line each.
    [[nodiscard]] const std::vector<std::string>& differences() const noexcept { return differences_; }

    /// Throws `Error(config_mismatch)` with a line for each field that differs; returns when none does.
    void finish() const;

private:
    template <class Value>
    void compare(std::string_view key, const std::optional<Value>& found, const Value& expected,
                 const std::optional<Value>& if_absent) {
        const bool absent = !config_.contains(key) || (null_is_absent_ && config_.is_null(key));
        const std::optional<Value>& value = absent ? if_absent : found;
        if (value && *value == expected) {
            return;
        }
        std::string line = in_quotes(config_.file_name(), longest_quote) + ": the field " + in_quotes(key) +
                           ": expected " + ModelConfig::spelled(JsonValue(expected)) + ", found " + config_.found(key);
        if (absent && if_absent) {
            line += ", which means " + ModelConfig::spelled(JsonValue(*if_absent));
        }
        differences_.push_back(std::move(line));
    }

    const ModelConfig& config_;
    bool null_is_absent_ = false;
    std::vector<std::string> differences_;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/model_config.hpp>
#endif
