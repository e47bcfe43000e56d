// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace totograph::io {

/// A running checksum, FNV-1a with 64 bits: finds damage and tells texts apart, and is no protection against intent.
/// Any one byte that differs changes it.
class Checksum {
public:
    constexpr Checksum& add(std::string_view bytes) noexcept {
        for (const char byte : bytes) {
            value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
        }
        return *this;
    }

    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

    /// Sixteen hexadecimal digits.
    [[nodiscard]] std::string text() const {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string text;
        for (unsigned shift = 64; shift > 0; shift -= 4) {
            text += digits[value_ >> (shift - 4) & 15U];
        }
        return text;
    }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

constexpr std::uint64_t checksum_of(std::string_view bytes) noexcept {
    return Checksum().add(bytes).value();
}

/// The checksum of a text as sixteen hexadecimal digits.
inline std::string checksum_text(std::string_view bytes) {
    return Checksum().add(bytes).text();
}

}  // namespace totograph::io
