// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

// GCC 12 takes the deliberately undefined operands of its own AVX-512 intrinsics for mistakes (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <Eigen/Core>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/optimize_warning.hpp>

// Code that depends on the instruction set lives in an inline namespace named after it, so that objects compiled with
// different flags can be linked into one program without sharing each other's kernels or packed weights. The classes
// above (`Forecaster` and what uses it) carry no such name: compile all uses of one forecaster with the same flags.
#if defined(EIGEN_VECTORIZE_AVX512)
#define TOTOGRAPH_SIMD_NAMESPACE avx512
#elif defined(EIGEN_VECTORIZE_AVX) && defined(EIGEN_VECTORIZE_FMA)
#define TOTOGRAPH_SIMD_NAMESPACE avx_fma
#elif defined(EIGEN_VECTORIZE_AVX)
#define TOTOGRAPH_SIMD_NAMESPACE avx
#elif defined(EIGEN_VECTORIZE_SSE)
#define TOTOGRAPH_SIMD_NAMESPACE sse
#elif defined(EIGEN_VECTORIZE_NEON)
#define TOTOGRAPH_SIMD_NAMESPACE neon
#else
#error "totograph: the CPU executors need vectors (SSE2 or later, or NEON); do not define EIGEN_DONT_VECTORIZE."
#endif

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// The widest vector of floats that the target has.
using Packet = Eigen::internal::packet_traits<float>::type;

/// How many floats a packet holds.
inline constexpr Index packet_size = Eigen::internal::packet_traits<float>::size;

/// How many packets the target's registers hold; GEMM kernels choose their tile by it.
#if defined(EIGEN_VECTORIZE_AVX512) || defined(__aarch64__)
inline constexpr int packet_registers = 32;
#else
inline constexpr int packet_registers = 16;
#endif

/// The bits of a packet as 32-bit words.
using PacketWords [[gnu::vector_size(sizeof(Packet)), gnu::may_alias]] = std::uint32_t;

inline Packet zero_packet() noexcept {
    return Eigen::internal::pset1<Packet>(0.0F);
}

/// A packet whose lanes are all `value`.
inline Packet broadcast_packet(float value) noexcept {
    return Eigen::internal::pset1<Packet>(value);
}

inline Packet load(const float* from) noexcept {
    return Eigen::internal::ploadu<Packet>(from);
}

/// Loads from an address that is a multiple of the packet's size in bytes.
inline Packet load_aligned(const float* from) noexcept {
    return Eigen::internal::pload<Packet>(from);
}

inline void store(float* to, Packet value) noexcept {
    Eigen::internal::pstoreu(to, value);
}

/// Stores to an address that is a multiple of the packet's size in bytes.
inline void store_aligned(float* to, Packet value) noexcept {
    Eigen::internal::pstore(to, value);
}

inline Packet add(Packet a, Packet b) noexcept {
    return Eigen::internal::padd(a, b);
}

inline Packet subtract(Packet a, Packet b) noexcept {
    return Eigen::internal::psub(a, b);
}

inline Packet multiply(Packet a, Packet b) noexcept {
    return Eigen::internal::pmul(a, b);
}

inline Packet divide(Packet a, Packet b) noexcept {
    return Eigen::internal::pdiv(a, b);
}

/// `a * b + c`, rounded once where the target has a fused instruction.
inline Packet multiply_add(Packet a, Packet b, Packet c) noexcept {
    return Eigen::internal::pmadd(a, b, c);
}

/// The same value, which the compiler does not join with what comes next: a product that is added is rounded on its
/// own, however functions are inlined.
inline Packet rounded(Packet value) noexcept {
#if defined(__x86_64__)
    __asm__("" : "+x"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#endif
    return value;
}

/// The same value, from here on: what is computed of it stays together, behind this place. Compilers join a product
/// with the sum that it is added to only where both lie between the same two branches.
inline Packet pinned(Packet value) noexcept {
#if defined(__x86_64__)
    __asm__ volatile("" : "+x"(value));
#elif defined(__aarch64__)
    __asm__ volatile("" : "+w"(value));
#endif
    return value;
}

/// The larger of each pair of lanes.
inline Packet maximum(Packet a, Packet b) noexcept {
    return Eigen::internal::pmax(a, b);
}

/// The sum of all lanes.
inline float sum_of_lanes(Packet a) noexcept {
    return Eigen::internal::predux(a);
}

/// The largest of all lanes.
inline float maximum_of_lanes(Packet a) noexcept {
    return Eigen::internal::predux_max(a);
}

/// Loads words from an address that is a multiple of the packet's size in bytes.
inline PacketWords load_words_aligned(const std::uint32_t* from) noexcept {
    return *reinterpret_cast<const PacketWords*>(from);
}

/// The bfloat16 in the lower half of each word, widened exactly.
inline Packet lower_bfloat16(PacketWords words) noexcept {
    return std::bit_cast<Packet>(words << 16U);
}

/// The bfloat16 in the upper half of each word, widened exactly.
inline Packet upper_bfloat16(PacketWords words) noexcept {
    return std::bit_cast<Packet>(words & 0xffff0000U);
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
