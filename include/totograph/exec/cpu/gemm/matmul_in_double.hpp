// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>

// The GEMM that composes weights, which happens once: short to compile, and as fast as memory needs.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace matmul_detail {

/// As many doubles as fill a packet.
using Doubles [[gnu::vector_size(sizeof(Packet)), gnu::may_alias]] = double;
inline constexpr Index lanes = packet_size / 2;
/// Columns that are computed at a time: two vectors.
inline constexpr Index panel_columns = 2 * lanes;
/// Rows at a time: their accumulators, two vectors of B and one number of A fill the registers.
inline constexpr int rows_at_once = packet_registers == 32 ? 12 : 6;

/// Adds up `sizeof...(row)` rows of A with a panel of B, `[k][panel_columns]`; the accumulators go to `out`, row by
/// row.
template <int... row>
void multiply_rows(const double* a, Index k, const double* panel, double* out, std::integer_sequence<int, row...>) {
    Doubles first[sizeof...(row)] = {};
    Doubles second[sizeof...(row)] = {};
    for (Index i = 0; i < k; ++i) {
        const Doubles left = *reinterpret_cast<const Doubles*>(panel + i * panel_columns);
        const Doubles right = *reinterpret_cast<const Doubles*>(panel + i * panel_columns + lanes);
        ((first[row] = a[row * k + i] * left + first[row], second[row] = a[row * k + i] * right + second[row]), ...);
    }
    ((*reinterpret_cast<Doubles*>(out + row * panel_columns) = first[row],
      *reinterpret_cast<Doubles*>(out + row * panel_columns + lanes) = second[row]),
     ...);
}

}  // namespace matmul_detail

/// A B of floats, row-major: `a` is `[outer, inner]`, `b` `[inner, columns]`, `out` `[outer, columns]`. Each number is
/// one chain of multiply-adds in double, in the order of `inner`, and rounded once at its end.
void matmul_in_double(const float* a, const float* b, float* out, Index outer, Index inner, Index columns);

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/gemm/impl/matmul_in_double.hpp>
#endif
