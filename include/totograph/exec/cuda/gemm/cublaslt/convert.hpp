// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// The input of GEMMs as bf16, before a library computes them. Rows in no use are read and not stored: behind a kernel
// of a library nothing is known early, and loads would wait for the bounds.

namespace totograph::cuda {

/// The rows of a kernel in use; all of them where those that read what it makes bound others.
/// @tparam agree  they bound the same rows as `K`
template <class K, bool agree>
class UsedRowsOfAll {
public:
    __device__ __forceinline__ explicit UsedRowsOfAll(const KernelCall& call) : rows_(call) {}

    [[nodiscard]] __device__ __forceinline__ bool has(Index row) const {
        return !agree || rows_.has(static_cast<Offset<K>>(row));
    }

private:
    LateUsedRows<K> rows_;
};

/// Rows of the input of GEMMs, of which `K` is the first, as bf16, next to each other.
/// @tparam agree  all of them bound the same rows
template <class K, bool agree>
__global__ void __launch_bounds__(block_threads)
    convert_kernel(const __grid_constant__ KernelCall call, BFloat16* out) {
    const UsedRowsOfAll<K, agree> used(call);
    wait_for_predecessor();
    launch_dependents();
    constexpr auto k = static_cast<int>(K::kernel.k);
    const auto* in = call.input.get<float>(call.report);
    constexpr int lanes = k % 4 == 0 ? 4 : k % 2 == 0 ? 2 : 1;
    for (Index item = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; item < K::kernel.rows() * (k / lanes);
         item += static_cast<Index>(gridDim.x) * blockDim.x) {
        const Index row = item / (k / lanes);
        const Index column = item % (k / lanes) * lanes;
        auto values = load_pack<1, lanes, K::is_aligned>(in + row * K::kernel.input_stride + column);
        compute_now(values);
        if (used.has(row)) {
            store_pack<1, K::is_aligned>(out + row * k + column, stored_as<BFloat16>(values));
        }
    }
}

/// The same, with a norm `K` of the rows; a warp a row.
template <class K, bool agree>
__global__ void __launch_bounds__(block_threads)
    norm_and_convert_kernel(const __grid_constant__ KernelCall call, BFloat16* out) {
    const UsedRowsOfAll<K, agree> used(call);
    wait_for_predecessor();
    launch_dependents();
    constexpr int warps = block_threads / warp_size;
    constexpr auto k = static_cast<Offset<K>>(K::kernel.columns());
    constexpr int lanes = k % 4 == 0 ? 4 : k % 2 == 0 ? 2 : 1;
    const OperandPointers<Epilogue<K>> after(call);
    const auto* in = call.operands[0].get<float>(positions_of<K>(call));
    auto* norms = call.output.get<float>(positions_of<K>(call));
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    for (Offset<K> row = static_cast<Offset<K>>(blockIdx.x * warps + threadIdx.x / warp_size);
         row < static_cast<Offset<K>>(K::kernel.rows()); row += static_cast<Offset<K>>(gridDim.x * warps)) {
        const auto place = place_of<K, RowsOf<K>>(row);
        const float* from = in + offset_of<K, StridesOfOperand<K, 0>>(place);
        // All loads before the first store, so that they overlap.
        constexpr int packs = static_cast<int>((k + warp_size * lanes - 1) / (warp_size * lanes));
        Pack<float, lanes> values[packs];
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            const Offset<K> column = (i * warp_size + lane) * lanes;
            values[i] = column < k ? load_pack<1, lanes, K::is_aligned>(from + column) : Pack<float, lanes>{};
        }
        const bool is_used = used.has(row);
        float total = 0;
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            const Offset<K> column = (i * warp_size + lane) * lanes;
#pragma unroll
            for (int j = 0; j < lanes; ++j) {
                total += values[i].lane[j] * values[i].lane[j];
            }
            if (column < k && is_used) {
                store_pack<1, K::is_aligned>(out + row * k + column, stored_as<BFloat16>(values[i]));
            }
        }
        total = warp_sum(total);
        if (lane == 0 && is_used) {
            norms[offset_of<K, StridesOfOutput<K>>(place)] = finish_row<K>(after, place, total);
        }
    }
}

}  // namespace totograph::cuda
