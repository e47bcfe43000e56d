// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/reductions.hpp>
#include <totograph/graph/record/tensor.hpp>

// Bits as the signs of numbers, and integers as bits. Both are made of other ops, in f32, which holds integers of 24
// bits exactly: packing is one reduction, unpacking one chain.

namespace totograph {

/// The most bits of one integer.
inline constexpr Index most_packed_bits = 24;

namespace detail {

/// 1, 2, 4, ... as `[count]`, computed once, before the first run.
constexpr Tensor powers_of_two(Recorder& recorder, Index count) {
    constexpr double log_of_2 = 0.69314718055994530942;
    // Whole numbers, whatever a rounding of the logarithm or of the power does.
    return cast(floor(exp(recorder.iota(count, DType::f64) * log_of_2) + 0.5), DType::f32);
}

/// A count of bits that can be packed; 1, after noting a mistake, in place of another.
constexpr Index packed_bits(Recorder& recorder, Index count, std::string_view what) {
    if (count < 1 || count > most_packed_bits) {
        recorder.fail(ModelErrorKind::shape_is_not_usable)
            << what << ": " << count << " bits; integers of 1 to " << most_packed_bits << " bits are packed";
        return 1;
    }
    return count;
}

}  // namespace detail

/// The signs of the last axis, which stays with extent 1, as one i32: bit i is 1 where number i is above 0, and 0 where
/// it is 0, below, or NaN. The least significant bit comes first. x is f32 with at most 24 columns.
constexpr Tensor pack_bits(Tensor x) {
    Recorder& recorder = x.recorder();
    const Tensor powers = detail::powers_of_two(recorder, detail::packed_bits(recorder, x.extent(-1), "pack_bits"));
    return cast(sum(less(recorder.constant(0.0), x) * powers), DType::i32);
}

/// The bits of integers, `[..., 1]` i32 of 0 to 2^count - 1, as `[..., count]` f32: 1 for a bit that is set, else 0.
/// The least significant bit comes first.
constexpr Tensor unpack_bits(Tensor ids, Index count) {
    Recorder& recorder = ids.recorder();
    const Tensor powers = detail::powers_of_two(recorder, detail::packed_bits(recorder, count, "unpack_bits"));
    // Each quotient by a power of two is exact.
    const Tensor shifted = floor(cast(ids, DType::f32) / powers);
    return shifted - floor(shifted * 0.5) * 2.0;
}

}  // namespace totograph
