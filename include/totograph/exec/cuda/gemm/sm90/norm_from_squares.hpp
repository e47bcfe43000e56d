// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/epilogue.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// The second half of a norm between two launches, of which the first one has left sums of squares.

namespace totograph::cuda {

/// What it reads and stores. A kernel's parameters hold it.
struct NormFromSquares {
    KernelCall call;
    /// Of each `squared_columns` of the input, the sum of the squares of each row. Null where another kernel has
    /// computed the norm.
    const float* squares;
};

/// Finishes the norm of some rows.
/// @tparam Norm    the step
/// @tparam m, k    rows and columns of the input
/// @tparam each    rows of a thread
/// @param  row_of  the row of a number below `each`, one that exists
/// @param  stores  whether the thread stores it
template <class Norm, int m, int k, int each, class RowOf, class Stores>
__device__ __forceinline__ void finish_norms(const NormFromSquares& norm, const RowOf& row_of, const Stores& stores) {
    constexpr int parts = (k + squared_columns - 1) / squared_columns;
    float total[each] = {};
#pragma unroll
    for (int part = 0; part < parts; ++part) {
#pragma unroll
        for (int i = 0; i < each; ++i) {
            total[i] += norm.squares[part * m + row_of(i)];
        }
    }
    const OperandPointers<Epilogue<Norm>> after(norm.call);
    auto* const out = norm.call.output.get<float>(positions_of<Norm>(norm.call));
#pragma unroll
    for (int i = 0; i < each; ++i) {
        if (stores(i)) {
            const auto place = place_of<Norm, RowsOf<Norm>>(static_cast<Offset<Norm>>(row_of(i)));
            out[offset_of<Norm, StridesOfOutput<Norm>>(place)] = finish_row<Norm>(after, place, total[i]);
        }
    }
}

}  // namespace totograph::cuda
