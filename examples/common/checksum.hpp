// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace examples {

/// A running 64-bit checksum (FNV-1a): finds torn and mistyped text and tells files apart; no protection against
/// intent.
class Checksum {
public:
    Checksum& add(std::string_view bytes) {
        for (const char byte : bytes) {
            state_ = (state_ ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
        }
        return *this;
    }

    /// Sixteen hexadecimal digits.
    [[nodiscard]] std::string text() const {
        std::array<char, 16> digits{};
        const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), state_, 16);
        const auto count = static_cast<std::size_t>(written.ptr - digits.data());
        return std::string(digits.size() - count, '0').append(digits.data(), count);
    }

private:
    std::uint64_t state_ = 14695981039346656037ULL;
};

inline std::string checksum_text(std::string_view bytes) {
    return Checksum().add(bytes).text();
}

}  // namespace examples
