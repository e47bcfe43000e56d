// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/core/exact_math.hpp>

namespace totograph {

/// Element types of tensors. `i32` carries lengths, positions and group ids; `bf16` and `f16` are storage only.
enum class DType : std::uint8_t { f32, f64, bf16, f16, i32 };

constexpr std::size_t size_in_bytes(DType type) noexcept {
    switch (type) {
        case DType::f64: return 8;
        case DType::bf16:
        case DType::f16: return 2;
        case DType::f32:
        case DType::i32: return 4;
    }
    return 0;
}

constexpr std::string_view name(DType type) noexcept {
    switch (type) {
        case DType::f32: return "f32";
        case DType::f64: return "f64";
        case DType::bf16: return "bf16";
        case DType::f16: return "f16";
        case DType::i32: return "i32";
    }
    return "unknown";
}

/// Brain floating point: the upper half of a float32. Storage only; arithmetic happens in float.
struct BFloat16 {
    std::uint16_t bits = 0;

    BFloat16() = default;

    /// Rounds to nearest, ties to even; keeps NaN a quiet NaN.
    constexpr explicit BFloat16(float value) noexcept {
        const auto wide = std::bit_cast<std::uint32_t>(value);
        if ((wide & 0x7fffffffU) > 0x7f800000U) {
            bits = static_cast<std::uint16_t>((wide >> 16U) | 0x0040U);
        } else {
            bits = static_cast<std::uint16_t>((wide + 0x7fffU + ((wide >> 16U) & 1U)) >> 16U);
        }
    }

    constexpr explicit operator float() const noexcept {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
    }
};

/// IEEE half precision, read from checkpoints only.
struct Float16 {
    std::uint16_t bits = 0;

    constexpr explicit operator float() const noexcept {
        const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
        const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
        const std::uint32_t mantissa = bits & 0x3ffU;
        if (exponent == 0) {  // zero and subnormals: the value is mantissa * 2^-24
            const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
            return sign != 0 ? -magnitude : magnitude;
        }
        const std::uint32_t wide_exponent = exponent == 0x1fU ? 0xffU : exponent + 112U;
        return std::bit_cast<float>(sign | (wide_exponent << 23U) | (mantissa << 13U));
    }
};

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
    static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
    static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<BFloat16> {
    static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<Float16> {
    static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<std::int32_t> {
    static constexpr DType value = DType::i32;
};

/// The `DType` that describes elements of type `T`.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace totograph
