// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/letters.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io::detail {

/// The two bytes of a letter beyond ASCII as a code point; 0 where there is none that this file knows.
TOTOGRAPH_INLINE std::uint32_t letter_of_two_bytes(std::string_view text) {
    if (text.size() < 2 || (static_cast<unsigned char>(text[1]) & 0xC0U) != 0x80U) {
        return 0;
    }
    const std::uint32_t point =
        (static_cast<unsigned char>(text[0]) & 0x1FU) << 6U | (static_cast<unsigned char>(text[1]) & 0x3FU);
    const bool is_latin = text[0] >= '\xC3' && text[0] <= '\xC5' && point != 0xD7 && point != 0xF7;
    const bool is_cyrillic = (text[0] == '\xD0' || text[0] == '\xD1') && point <= 0x45F;
    return is_latin || is_cyrillic ? point : 0;
}

/// What is to be added to a capital for the small letter; 0 for another character.
TOTOGRAPH_INLINE std::uint32_t distance_to_small(std::uint32_t point) {
    const auto within = [&](std::uint32_t first, std::uint32_t last) { return point >= first && point <= last; };
    if (within('A', 'Z') || within(0xC0, 0xDE) || within(0x410, 0x42F)) {
        return 0x20;
    }
    if (within(0x400, 0x40F)) {
        return 0x50;
    }
    // Pairs of neighbours, but for the Turkish letters i with and without a point.
    const bool is_even_capital = within(0x100, 0x12F) || within(0x132, 0x137) || within(0x14A, 0x177);
    const bool is_odd_capital = within(0x139, 0x148) || within(0x179, 0x17E);
    return (is_even_capital && point % 2 == 0) || (is_odd_capital && point % 2 == 1) ? 1 : 0;
}

TOTOGRAPH_INLINE std::uint32_t small_letter_of(std::uint32_t point) {
    constexpr std::uint32_t with_point = 0x130;  // Turkish: its small letter is the i of ASCII
    return point == with_point ? 'i' : point + distance_to_small(point);
}

TOTOGRAPH_INLINE std::uint32_t capital_of(std::uint32_t point) {
    constexpr std::uint32_t without_point = 0x131;  // Turkish: its capital is the I of ASCII
    for (const std::uint32_t distance : {0x20U, 0x50U, 1U}) {
        if (point > distance && distance_to_small(point - distance) == distance) {
            return point - distance;
        }
    }
    return point == without_point ? 'I' : point;
}

TOTOGRAPH_INLINE std::size_t letter_length(std::string_view text) {
    if (text.empty()) {
        return 0;
    }
    const char first = text[0];
    const bool is_ascii = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    return is_ascii ? 1 : letter_of_two_bytes(text) != 0 ? 2 : 0;
}

/// The letter at the start of a text.
TOTOGRAPH_INLINE std::uint32_t first_letter(std::string_view text) {
    return letter_length(text) == 2 ? letter_of_two_bytes(text) : static_cast<unsigned char>(text[0]);
}

TOTOGRAPH_INLINE bool begins_with_capital(std::string_view text) {
    return letter_length(text) > 0 && small_letter_of(first_letter(text)) != first_letter(text);
}

/// A text with each letter as `convert` makes it.
template <class Convert>
std::string with_letters(std::string_view text, const Convert& convert) {
    std::string converted;
    while (!text.empty()) {
        const std::size_t length = letter_length(text);
        if (length == 0) {
            converted += text[0];
            text.remove_prefix(1);
            continue;
        }
        const std::uint32_t point = convert(first_letter(text));
        if (point >= 0x80) {
            converted += static_cast<char>(0xC0U | point >> 6U);
        }
        converted += static_cast<char>(point < 0x80 ? point : 0x80U | (point & 0x3FU));
        text.remove_prefix(length);
    }
    return converted;
}

TOTOGRAPH_INLINE std::string in_small_letters(std::string_view text) {
    return with_letters(text, small_letter_of);
}

TOTOGRAPH_INLINE std::string in_capitals(std::string_view text) {
    return with_letters(text, capital_of);
}

}  // namespace totograph::io::detail
