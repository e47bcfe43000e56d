// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/gemm/matmul_in_double.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

TOTOGRAPH_INLINE void matmul_in_double(const float* a, const float* b, float* out, Index outer, Index inner,
                                       Index columns) {
    using namespace matmul_detail;
    const std::vector<double> left(a, a + outer * inner);
    const Arena memory(static_cast<std::size_t>(inner * panel_columns) * sizeof(double));
    auto* const panel = reinterpret_cast<double*>(memory.data());
    alignas(buffer_alignment) double accumulators[rows_at_once * panel_columns];
    for (Index column = 0; column < columns; column += panel_columns) {
        const Index count = std::min(panel_columns, columns - column);
        for (Index k = 0; k < inner; ++k) {
            double* const end = std::copy_n(b + k * columns + column, count, panel + k * panel_columns);
            std::fill_n(end, panel_columns - count, 0.0);
        }
        for (Index row = 0; row < outer;) {
            const bool is_block = row + rows_at_once <= outer;
            const Index rows = is_block ? rows_at_once : 1;
            const double* const from = left.data() + row * inner;
            if (is_block) {
                multiply_rows(from, inner, panel, accumulators, std::make_integer_sequence<int, rows_at_once>());
            } else {
                multiply_rows(from, inner, panel, accumulators, std::make_integer_sequence<int, 1>());
            }
            for (Index i = 0; i < rows; ++i) {
                std::transform(accumulators + i * panel_columns, accumulators + i * panel_columns + count,
                               out + (row + i) * columns + column,
                               [](double value) { return static_cast<float>(value); });
            }
            row += rows;
        }
    }
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
