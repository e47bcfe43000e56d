// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ostream>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

// How doctest prints values that it does not know, in place of "{?}": ranges, pairs, what may be missing, and whatever
// has a to_string(value) or, being an enumeration inside one of these, a name(value).

namespace totograph::test {

template <class T>
concept IsStreamed = requires(std::ostream& stream, const T& value) {
    stream << value;
};
template <class T>
concept HasText = std::is_class_v<T> && !IsStreamed<T> && requires(const T& value) {
    { to_string(value) } -> std::convertible_to<std::string>;
};
template <class T>
concept IsListed = std::ranges::input_range<const T> && !IsStreamed<T> && !HasText<T> && std::is_class_v<T>;

template <class T>
std::string text_of(const T& value) {
    if constexpr (std::is_enum_v<T>) {
        if constexpr (requires {
                          { name(value) } -> std::convertible_to<std::string_view>;
                      }) {
            return std::string(name(value));
        } else {
            return text_of(static_cast<std::underlying_type_t<T>>(value));
        }
    } else {
        return doctest::toString(value).c_str();
    }
}

/// The values of a range, or the first ones and how many there are.
template <class Range>
std::string list_text(const Range& range) {
    constexpr std::size_t most = 24;
    std::string text;
    std::size_t count = 0;
    for (const std::ranges::range_value_t<const Range> value : range) {
        if (count < most) {
            text += (count == 0 ? "" : ", ") + text_of(value);
        }
        ++count;
    }
    return "{" + text + (count > most ? ", ... " + std::to_string(count) + " in all}" : "}");
}

}  // namespace totograph::test

namespace doctest {

template <totograph::test::HasText T>
struct StringMaker<T> {
    static String convert(const T& value) { return to_string(value).c_str(); }
};
template <totograph::test::IsListed T>
struct StringMaker<T> {
    static String convert(const T& range) { return totograph::test::list_text(range).c_str(); }
};
template <class First, class Second>
struct StringMaker<std::pair<First, Second>> {
    static String convert(const std::pair<First, Second>& pair) {
        return ("(" + totograph::test::text_of(pair.first) + ", " + totograph::test::text_of(pair.second) + ")")
            .c_str();
    }
};
template <class T>
struct StringMaker<std::optional<T>> {
    static String convert(const std::optional<T>& value) {
        return value ? totograph::test::text_of(*value).c_str() : "nothing";
    }
};
template <>
struct StringMaker<std::nullopt_t> {
    static String convert(std::nullopt_t) { return "nothing"; }
};

}  // namespace doctest
