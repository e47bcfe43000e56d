// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Tensor core instructions of compute capability 8.0 and later. In the layouts below a lane is `4 row + quarter`.

namespace totograph::cuda {

/// d += a b, 16x8x16, a and b bf16. A lane holds of d: rows `row` and `row + 8`, columns `2 quarter` and the next.
__device__ __forceinline__ void multiply_bf16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                              std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// d += a b, 16x8x8, a and b tf32.
__device__ __forceinline__ void multiply_tf32(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                              std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Four 8x8 blocks of bf16 from shared memory. Lane 8 i + j gives the address of row j of block i; a lane gets of each
/// block row `row`, columns `2 quarter` and the next.
__device__ __forceinline__ void load_blocks(std::uint32_t (&blocks)[4], const void* row_of_lane) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row_of_lane));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(blocks[0]), "=r"(blocks[1]), "=r"(blocks[2]), "=r"(blocks[3])
                 : "r"(address)
                 : "memory");
}

/// The same, transposed: a lane gets of each block rows `2 quarter` and the next, column `row`.
__device__ __forceinline__ void load_transposed_blocks(std::uint32_t (&blocks)[4], const void* row_of_lane) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row_of_lane));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(blocks[0]), "=r"(blocks[1]), "=r"(blocks[2]), "=r"(blocks[3])
                 : "r"(address)
                 : "memory");
}

/// Two numbers as bf16, rounded to the nearest, the first in the lower half.
__device__ __forceinline__ std::uint32_t two_bf16(float low, float high) {
    std::uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(low), "f"(high));
    return pair;
}

/// Two threads `distance` apart have two words each, what belongs to the first and what belongs to the second: each
/// gets its own, the one of the first thread in `first`. All threads of a warp call it.
template <class Word>
__device__ __forceinline__ void exchange_between_threads(Word& first, Word& second, unsigned distance) {
    const bool is_second = (threadIdx.x & distance) != 0;
    const Word received = __shfl_xor_sync(0xffffffffU, is_second ? first : second, distance);
    (is_second ? first : second) = received;
}

/// The bits of a float that tf32 has: tensor cores cut off the others.
inline constexpr std::uint32_t tf32_bits = 0xffffe000U;

/// A number for tensor cores alone: half a unit of tf32 more, so that they take it rounded to the nearest (halves away
/// from zero; denormal numbers towards zero). NaN stays NaN. `cvt.rna.tf32.f32` takes nvcc 13.0 twice the instructions
/// for compute capability 9.0.
__device__ __forceinline__ std::uint32_t as_tf32(float value) {
    constexpr std::uint32_t sign_and_exponent = 0xff800000U;
    constexpr float half_unit = 0x1p-11F;
    const float power = __uint_as_float(__float_as_uint(value) & sign_and_exponent);
    return __float_as_uint(__fmaf_rn(power, half_unit, value));
}

/// The same with the other bits cleared: a number that is rounded for all.
__device__ __forceinline__ std::uint32_t rounded_to_tf32(float value) {
    return as_tf32(value) & tf32_bits;
}

/// A number rounded to tf32, and what rounding left, of which tensor cores cut off the last bits: 22 bits of it. Their
/// products, but for that of the two rests, err by less than a sum of products in f32 does. What is not finite leaves
/// NaN.
struct Tf32Parts {
    std::uint32_t large;
    std::uint32_t rest;

    static __device__ __forceinline__ Tf32Parts of(float value) {
        constexpr std::uint32_t half_unit = 0x1000U;
        // This may make something else of NaN; the rest is NaN then.
        const std::uint32_t large = (__float_as_uint(value) + half_unit) & tf32_bits;
        return {large, __float_as_uint(value - __uint_as_float(large))};
    }
};

}  // namespace totograph::cuda
