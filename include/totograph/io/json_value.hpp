// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace totograph::io {

/// A value of a JSON text: null, a boolean, a number, a string, or an array or object of values.
class JsonValue {
public:
    JsonValue() = default;
    explicit JsonValue(bool value) : kind_(Kind::boolean), bits_{.boolean = value} {}
    explicit JsonValue(std::int64_t value) : kind_(Kind::integer), bits_{.integer = value} {}
    explicit JsonValue(std::uint64_t value) : kind_(Kind::whole), bits_{.whole = value} {}
    explicit JsonValue(double value) : kind_(Kind::number), bits_{.number = value} {}
    explicit JsonValue(const char* value) = delete;  // would be a boolean
    explicit JsonValue(std::string value) : kind_(Kind::string), text_(std::move(value)) {}

    static JsonValue array(std::vector<JsonValue> items) { return {Kind::array, std::move(items)}; }

    /// Members are values with names; they are put in the order of these.
    static JsonValue object(std::vector<JsonValue> members);

    /// The value as the member of an object.
    JsonValue&& named(std::string name) && {
        name_ = std::move(name);
        return std::move(*this);
    }

    [[nodiscard]] bool is_null() const noexcept { return kind_ == Kind::null; }
    [[nodiscard]] bool is_array() const noexcept { return kind_ == Kind::array; }
    [[nodiscard]] bool is_object() const noexcept { return kind_ == Kind::object; }
    /// Whether it is a number without fraction and exponent, of 64 bits.
    [[nodiscard]] bool is_integer() const noexcept { return kind_ == Kind::integer || kind_ == Kind::whole; }

    /// Nothing for another type, here and below.
    [[nodiscard]] std::optional<bool> boolean() const {
        return kind_ == Kind::boolean ? std::optional(bits_.boolean) : std::nullopt;
    }
    /// A number without fraction and exponent; nothing where it does not fit.
    [[nodiscard]] std::optional<std::int64_t> integer() const;
    /// The same without a sign.
    [[nodiscard]] std::optional<std::uint64_t> whole() const {
        return kind_ == Kind::whole ? std::optional(bits_.whole) : std::nullopt;
    }
    /// Any number.
    [[nodiscard]] std::optional<double> number() const;
    [[nodiscard]] const std::string* string() const noexcept { return kind_ == Kind::string ? &text_ : nullptr; }

    /// The elements of an array, or the members of an object in the order of their names; of other values nothing.
    [[nodiscard]] std::span<const JsonValue> items() const noexcept;
    /// The name of a member of an object.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The member of an object; null where there is none.
    [[nodiscard]] const JsonValue* find(std::string_view name) const;

    /// What JSON calls the type.
    [[nodiscard]] std::string_view type_name() const noexcept;

private:
    enum class Kind : std::uint8_t { null, boolean, integer, whole, number, string, array, object };

    JsonValue(Kind kind, std::vector<JsonValue> items) : kind_(kind), items_(std::move(items)) {}

    Kind kind_ = Kind::null;
    union {
        bool boolean;
        std::int64_t integer;
        std::uint64_t whole;
        double number;
    } bits_{};
    std::string name_;
    std::string text_;
    std::vector<JsonValue> items_;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/json_value.hpp>
#endif
