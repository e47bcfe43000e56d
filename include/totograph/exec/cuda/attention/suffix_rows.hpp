// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <totograph/exec/cuda/kernels/async_copy.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>

// Keys and values of the suffix that each query has for itself, on their way through shared memory: whole lines are
// read (128 bytes at a time, where a lane's own parts of a row would be 64), and registers are free meanwhile.

namespace totograph::cuda {

inline constexpr int queries_of_warp = 16;

namespace tile_detail {

/// A row for each query of a warp, as it lies in memory, in pieces of sixteen bytes.
template <int head_dim, class T>
class SuffixMatrix {
public:
    static constexpr int pieces = head_dim * static_cast<int>(sizeof(T)) / 16;
    static constexpr int piece_elements = 16 / static_cast<int>(sizeof(T));

    /// Begins to copy a piece of a row; without `is_aligned` rows it is there at once.
    template <bool is_aligned>
    __device__ __forceinline__ void copy_piece(int row, int piece, const T* from) {
        std::byte* const to = &bytes_[row][place_of(row, piece) * 16];
        if constexpr (is_aligned) {
            copy_async(to, from);
        } else {
            store_pack<1, true>(reinterpret_cast<T*>(to), load_pack<1, piece_elements, false>(from));
        }
    }

    /// Neighbouring elements of a row, the first a multiple of their number.
    template <int count>
    __device__ __forceinline__ StoredPack<T, count> load(int row, int first) const {
        constexpr int bytes = count * static_cast<int>(sizeof(T));
        constexpr int part = std::min(bytes, 16);
        StoredPack<T, count> result;
#pragma unroll
        for (int i = 0; i < bytes / part; ++i) {
            const int at = first * static_cast<int>(sizeof(T)) + i * part;
            const auto words = *reinterpret_cast<const typename WordsOf<part>::type*>(
                &bytes_[row][place_of(row, at / 16) * 16 + at % 16]);
            memcpy(reinterpret_cast<std::byte*>(&result) + i * part, &words, part);
        }
        return result;
    }

private:
    /// Eight lanes read at a time: of two rows, four pieces, which must not meet in a bank where a row is as long as
    /// all banks. Those of a bf16 row are neighbours, those of an f32 row every other one.
    static __device__ __forceinline__ int place_of(int row, int piece) {
        constexpr int other_banks = sizeof(T) == 2 ? 4 : 1;
        return pieces % 8 == 0 ? piece ^ (row % 2 * other_banks) : piece;
    }

    alignas(16) std::byte bytes_[queries_of_warp][pieces * 16];
};

/// A key and a value of each query.
template <int head_dim, class T>
struct SuffixRows {
    SuffixMatrix<head_dim, T> key;
    SuffixMatrix<head_dim, T> value;
};

}  // namespace tile_detail

}  // namespace totograph::cuda
