// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace totograph {

namespace nn {

/// The characters of a name as a template argument.
template <std::size_t capacity>
struct NameText {
    char characters[capacity]{};  // with a 0 at the end, as a literal has it

    constexpr NameText() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is a template argument
    consteval NameText(const char (&literal)[capacity]) {
        for (std::size_t i = 0; i < capacity; ++i) {
            characters[i] = literal[i];
        }
    }
};

/// A name, or the beginning of one, that is part of a type: graphs keep views of names, so these must last as long as
/// the program. `"layers.{}"_name + ".weight"_name` is `"layers.{}.weight"_name`.
template <NameText text>
struct Name {
    static constexpr NameText characters = text;
    static constexpr std::string_view value{characters.characters, sizeof(characters.characters) - 1};

    // NOLINTNEXTLINE(google-explicit-constructor): it is what the recorder takes
    constexpr operator std::string_view() const { return value; }
};

namespace detail {

template <std::size_t first, std::size_t second>
consteval NameText<first + second - 1> join(const NameText<first>& a, const NameText<second>& b) {
    NameText<first + second - 1> both;
    for (std::size_t i = 0; i + 1 < first; ++i) {
        both.characters[i] = a.characters[i];
    }
    for (std::size_t i = 0; i < second; ++i) {
        both.characters[first - 1 + i] = b.characters[i];
    }
    return both;
}

}  // namespace detail

/// A type `Name<...>`. It is a concept, for nvcc does not deduce the text of a name.
template <class T>
concept NameType = std::is_empty_v<T> && requires {
    T::characters;
    { T::value } -> std::convertible_to<std::string_view>;
};

namespace detail {

/// The name that a block is given, or a sentence for what is none.
template <class Given>
constexpr auto block_name(Given name) {
    static_assert(
        NameType<Given>,
        "totograph: a block is given its name as a type, for graphs keep views of names: \"layers.{}.mlp\"_name, "
        "with `using namespace totograph::literals`.");
    if constexpr (NameType<Given>) {
        return name;
    } else {
        return Name<"">{};
    }
}

}  // namespace detail

/// One name after the other.
template <NameType A, NameType B>
constexpr auto operator+(A, B) {
    return Name<detail::join(A::characters, B::characters)>{};
}

}  // namespace nn

inline namespace literals {

/// `"layers.{}.norm"_name`: where a block finds its weights. In it, `{}` stands for the number of the layer.
// Not consteval: clang 14 then calls it at run time from templates, and emits no code for it.
template <nn::NameText text>
constexpr nn::Name<text> operator""_name() {
    return {};
}

}  // namespace literals

}  // namespace totograph
