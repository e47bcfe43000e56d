// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/packs.hpp>
#include <totograph/exec/cuda/product_epilogue.hpp>
#include <totograph/exec/cuda/tensor_core.hpp>

// The chain of a product on the sums that a warpgroup holds.

namespace totograph::cuda::warpgroup_detail {

/// Gives each thread of four neighbours, which hold pairs of columns 8 i + 2 (thread % 4) of a row, eight neighbouring
/// columns: of four pairs, i = 0 to 3, the i'th becomes pair i of columns 8 (thread % 4) and on.
__device__ __forceinline__ void gather_columns(std::uint32_t& first, std::uint32_t& second, std::uint32_t& third,
                                               std::uint32_t& fourth) {
    const auto exchange = [](std::uint32_t& low, std::uint32_t& high, int distance) {
        const bool is_high = (threadIdx.x & static_cast<unsigned>(distance)) != 0;
        const std::uint32_t got = __shfl_xor_sync(0xffffffffU, is_high ? low : high, distance);
        low = is_high ? got : low;
        high = is_high ? high : got;
    };
    exchange(first, second, 1);
    exchange(third, fourth, 1);
    exchange(first, third, 2);
    exchange(second, fourth, 2);
}

/// The chain of a product on a thread's sums: those of rows `row` and `row + 8`, in a tile that begins at column
/// `first_column`. Sums are rounded as a library that leaves them in memory rounds them.
template <class K>
class TileEpilogue {
    static constexpr auto rows = static_cast<int>(K::kernel.rows());
    static constexpr int groups = 8 / K::kernel.accumulators;  // of 32 columns, 8 for each of four threads
    using Rows = RowsEpilogue<K, 8, 2>;

public:
    /// Asks for what is needed first: made before the sums are.
    __device__ __forceinline__ TileEpilogue(const KernelCall& call, int row, int first_column)
        : rows_(call), row_(row), column_(first_column + static_cast<int>(threadIdx.x) % 4 * 8) {
        rows_.choose_rows([&](int i) { return min(row + i * 8, rows - 1); });
        rows_.load(column_, operands_[0]);
    }

    /// Stores what the chain makes.
    __device__ __forceinline__ void finish(const float (&sums)[128]) {
        std::uint32_t words[2][32];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int pair = 0; pair < 32; ++pair) {
                words[half][pair] = two_bf16(sums[4 * pair + 2 * half], sums[4 * pair + 2 * half + 1]);
            }
#pragma unroll
            for (int pair = 0; pair < 32; pair += 4) {
                gather_columns(words[half][pair], words[half][pair + 1], words[half][pair + 2], words[half][pair + 3]);
            }
        }
#pragma unroll
        for (int group = 0; group < groups; ++group) {
            if (group + 1 < groups) {  // what the next group reads is on its way meanwhile
                rows_.load(column_ + (group + 1) * 32, operands_[(group + 1) % 2]);
            }
            rows_.finish(
                column_ + group * 32, operands_[group % 2],
                [&](int i, auto factor) {
                    StoredPack<BFloat16, 8> pack;
#pragma unroll
                    for (int word = 0; word < 4; ++word) {
                        pack.pair[word] = words[i][factor * 16 + group * 4 + word];
                    }
                    return pack.floats();
                },
                [&](int i) { return row_ + i * 8 < rows; });
        }
    }

private:
    Rows rows_;
    int row_;
    int column_;
    typename Rows::Operands operands_[2][2];
};

}  // namespace totograph::cuda::warpgroup_detail
