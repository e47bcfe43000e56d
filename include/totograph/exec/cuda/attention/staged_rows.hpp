// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/kernels/async_copy.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// Keys and values on their way through shared memory as they lie in memory: whole lines are read, and registers are
// free meanwhile.

namespace totograph::cuda {

/// Queries of a warp; so many rows of keys travel together: of one query each, or of keys that all queries share.
inline constexpr int queries_of_warp = 16;

namespace tile_detail {

/// Whether elements that lie together in sixteen bytes are finite numbers. Without a branch.
template <class T>
__device__ __forceinline__ bool are_finite(const uint4& words) {
    // Adding one to an exponent of ones alone overflows into the sign, which is cleared before.
    constexpr std::uint32_t signs = sizeof(T) == 2 ? 0x80008000U : 0x80000000U;
    constexpr std::uint32_t one = sizeof(T) == 2 ? 0x00800080U : 0x00800000U;
    const auto next = [](std::uint32_t word) { return (word & ~signs) + one; };
    return ((next(words.x) | next(words.y) | next(words.z) | next(words.w)) & signs) == 0;
}

/// Four numbers as tensor cores take them in tf32.
__device__ __forceinline__ uint4 words_as_tf32(const uint4& words) {
    const auto rounded = [](std::uint32_t word) { return as_tf32(__uint_as_float(word)); };
    return {rounded(words.x), rounded(words.y), rounded(words.z), rounded(words.w)};
}

/// Rows in pieces of sixteen bytes.
/// @tparam by_columns  `ldmatrix` reads them: the same piece of eight rows at a time
template <int head_dim, class T, bool by_columns, int rows = queries_of_warp>
class StagedMatrix {
public:
    using Element = T;
    static constexpr int pieces = head_dim * static_cast<int>(sizeof(T)) / 16;
    static constexpr int piece_elements = 16 / static_cast<int>(sizeof(T));
    /// Rows that are as long as all banks, or a multiple of that, are permuted by their number. Others get a piece more
    /// where they are read by columns: an odd number of pieces. (Reads of keys in f32 then meet in pairs; values do
    /// not, and no length serves both.)
    static constexpr bool is_permuted = pieces % 8 == 0;
    static constexpr int row_bytes = (is_permuted || !by_columns ? pieces : pieces / 2 * 2 + 1) * 16;

    /// What the number of a permuted row changes in the places of its pieces, by exclusive or. Reads that happen
    /// together must not meet in a bank: of bf16 the same piece of eight rows, or four neighbouring pieces of two rows;
    /// of f32 pairs of pieces of four rows, or every other of eight pieces of two rows.
    static constexpr __host__ __device__ int permuted_by(unsigned row) {
        return static_cast<int>(sizeof(T) == 2 ? row % 2 * 4 + row / 2 % 4 : (row % 4 ^ row / 4 % 2) * 2 + row % 2);
    }

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

    /// Where an element lies; the others of its piece are its neighbours.
    __device__ __forceinline__ const T* at(int row, int dimension) const { return at(row, 0, dimension); }
    /// The same of dimension `first + own`. Where `first` is a constant, what depends on the lane is computed once for
    /// all of them.
    /// @param first  its pieces are a multiple of more than lie before the one of `own`, which is one of the first
    /// eight
    __device__ __forceinline__ const T* at(int row, int first, int own) const {
        const int byte = own * static_cast<int>(sizeof(T));
        const int first_piece = first / piece_elements;
        // What is permuted lies among eight pieces: of others, the distance is a constant, and no address of its own.
        const int permuted = first_piece % 8 ^ place_of(row, byte / 16);
        const int place = is_permuted ? first_piece / 8 * 8 + permuted : first_piece + place_of(row, byte / 16);
        return reinterpret_cast<const T*>(&bytes_[row][place * 16 + byte % 16]);
    }

    /// The rows from a multiple of eight on.
    template <int count>
    __device__ __forceinline__ const StagedMatrix<head_dim, T, by_columns, count>& from(int first) const {
        return *reinterpret_cast<const StagedMatrix<head_dim, T, by_columns, count>*>(&bytes_[first]);
    }

    /// Neighbouring elements of a row, the first a multiple of their number.
    template <int count>
    __device__ __forceinline__ StoredPack<T, count> load(int row, int first) const {
        constexpr int bytes = count * static_cast<int>(sizeof(T));
        constexpr int part = std::min(bytes, 16);
        StoredPack<T, count> result;
#pragma unroll
        for (int i = 0; i < bytes / part; ++i) {
            const auto words = *reinterpret_cast<const typename WordsOf<part>::type*>(
                at(row, first + i * part / static_cast<int>(sizeof(T))));
            memcpy(reinterpret_cast<std::byte*>(&result) + i * part, &words, part);
        }
        return result;
    }

    /// Stores two neighbouring elements, as bf16.
    __device__ __forceinline__ void store_pair(int row, int dimension, std::uint32_t pair) {
        static_assert(sizeof(T) == 2);
        *reinterpret_cast<std::uint32_t*>(&bytes_[row][place_of(row, dimension / 8) * 16 + dimension % 8 * 2]) = pair;
    }

    __device__ __forceinline__ bool is_piece_finite(int row, int piece) const {
        return are_finite<T>(*reinterpret_cast<const uint4*>(&bytes_[row][place_of(row, piece) * 16]));
    }

    __device__ __forceinline__ void round_piece_to_tf32(int row, int piece) {
        auto& words = *reinterpret_cast<uint4*>(&bytes_[row][place_of(row, piece) * 16]);
        words = words_as_tf32(words);
    }

    /// Writes a word all over the first piece of a row.
    __device__ __forceinline__ void fill_first_piece(int row, std::uint32_t word) {
        *reinterpret_cast<uint4*>(&bytes_[row][place_of(row, 0) * 16]) = {word, word, word, word};
    }

    /// Makes a row zero; all threads of a warp call it.
    __device__ __forceinline__ void clear_row(int row) {
        for (int piece = static_cast<int>(threadIdx.x) % warp_size; piece < pieces; piece += warp_size) {
            *reinterpret_cast<uint4*>(&bytes_[row][piece * 16]) = {};
        }
    }

private:
    static __device__ __forceinline__ int place_of(int row, int piece) {
        // Unsigned: the compiler knows the lower bits.
        return is_permuted ? piece ^ permuted_by(static_cast<unsigned>(row)) : piece;
    }

    alignas(16) std::byte bytes_[rows][row_bytes];
};

/// A number that the compiler takes as it is: it would compute it again wherever it is used, and what depends on a lane
/// alone takes more instructions than what is done with it.
__device__ __forceinline__ std::uint32_t computed_once(std::uint32_t value) {
    asm volatile("" : "+r"(value));
    return value;
}
template <class T>
__device__ __forceinline__ const T* computed_once(const T* pointer) {
    asm volatile("" : "+l"(pointer));
    return pointer;
}

/// The pieces that a lane copies of sixteen rows: which they are, and where they lie.
template <class Matrix>
class LanePieces {
public:
    static constexpr unsigned count = queries_of_warp * Matrix::pieces / warp_size;
    /// Whether a lane has the same piece of several rows, whose places follow from that of the first.
    static constexpr bool are_alike = Matrix::is_permuted && warp_size % Matrix::pieces == 0;
    static constexpr unsigned rows_at_once = are_alike ? warp_size / Matrix::pieces : 1;

    __device__ __forceinline__ LanePieces() : place_(computed_once(place_of_first())) {}

    [[nodiscard]] static __device__ __forceinline__ int row(unsigned i) {
        return static_cast<int>(are_alike ? lane() / pieces + i * rows_at_once : (lane() + i * warp_size) / pieces);
    }
    [[nodiscard]] static __device__ __forceinline__ int piece(unsigned i) {
        return static_cast<int>(are_alike ? lane() % pieces : (lane() + i * warp_size) % pieces);
    }
    /// Where it lies.
    /// @param matrix  the address of the first row
    [[nodiscard]] __device__ __forceinline__ std::uint32_t at(std::uint32_t matrix, unsigned i) const
        requires(are_alike) {
        constexpr auto row_bytes = static_cast<std::uint32_t>(Matrix::row_bytes);
        return matrix + (place_ ^ static_cast<std::uint32_t>(Matrix::permuted_by(i * rows_at_once)) * 16U) +
               i * rows_at_once * row_bytes;
    }
    /// Whether all of them, of all lanes of the warp, are finite numbers.
    [[nodiscard]] __device__ __forceinline__ bool are_finite_at(std::uint32_t matrix) const requires(are_alike) {
        bool result = true;
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            result &= are_finite<typename Matrix::Element>(load(matrix, i));
        }
        return __all_sync(0xffffffffU, static_cast<int>(result)) != 0;
    }
    /// Rounds them to tf32.
    __device__ __forceinline__ void round_to_tf32_at(std::uint32_t matrix) const requires(are_alike) {
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            (void)round(matrix, i);
        }
    }
    /// The same. Returns whether all of them, of all lanes of the warp, are finite numbers then.
    [[nodiscard]] __device__ __forceinline__ bool round_and_test_at(std::uint32_t matrix) const requires(are_alike) {
        bool result = true;
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            result &= are_finite<float>(round(matrix, i));
        }
        return __all_sync(0xffffffffU, static_cast<int>(result)) != 0;
    }

private:
    static constexpr auto pieces = static_cast<unsigned>(Matrix::pieces);

    [[nodiscard]] __device__ __forceinline__ uint4 load(std::uint32_t matrix, unsigned i) const requires(are_alike) {
        uint4 words;
        asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                     : "r"(at(matrix, i))
                     : "memory");
        return words;
    }
    /// Rounds a piece to tf32, and returns it.
    __device__ __forceinline__ uint4 round(std::uint32_t matrix, unsigned i) const requires(are_alike) {
        static_assert(sizeof(typename Matrix::Element) == 4);
        const uint4 rounded = words_as_tf32(load(matrix, i));
        asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(at(matrix, i)), "r"(rounded.x), "r"(rounded.y),
                     "r"(rounded.z), "r"(rounded.w)
                     : "memory");
        return rounded;
    }
    static __device__ __forceinline__ unsigned lane() {
        return threadIdx.x % warp_size;
    }
    static __device__ __forceinline__ std::uint32_t place_of_first() {
        const auto number = static_cast<unsigned>(row(0));
        return number * static_cast<std::uint32_t>(Matrix::row_bytes) +
               static_cast<std::uint32_t>(piece(0) ^ Matrix::permuted_by(number)) * 16U;
    }

    std::uint32_t place_;
};

/// Keys, and their values.
template <int head_dim, class T, bool by_columns, int rows = queries_of_warp>
struct StagedRows {
    StagedMatrix<head_dim, T, by_columns, rows> key;
    StagedMatrix<head_dim, T, by_columns, rows> value;

    __device__ __forceinline__ const T* key_at(int row, int first, int own) const { return key.at(row, first, own); }
    __device__ __forceinline__ const T* value_at(int row, int first, int own) const {
        return value.at(row, first, own);
    }

    /// Of sixteen rows, a row of values that are not all finite becomes 0, and its key NaN: who attends to it gets NaN,
    /// and nobody else. A weight of 0 alone would not do: 0 times NaN is NaN. All threads of a warp call it.
    __device__ __forceinline__ void without_infinite_values(int first = 0) {
        constexpr int pieces = StagedMatrix<head_dim, T, by_columns>::pieces;
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        unsigned found = 0;
#pragma unroll
        for (int i = 0; i < queries_of_warp * pieces / warp_size; ++i) {
            const int item = lane + i * warp_size;
            found |= value.is_piece_finite(first + item / pieces, item % pieces) ? 0U : 1U << item / pieces;
        }
        found = __reduce_or_sync(0xffffffffU, found);
        for (; found != 0; found &= found - 1) {
            const int row = first + __ffs(static_cast<int>(found)) - 1;
            value.clear_row(row);
            key.fill_first_piece(row, 0xffffffffU);  // NaN
        }
        __syncwarp();
    }

    /// Rounds sixteen rows to tf32. All threads of a warp call it.
    __device__ __forceinline__ void round_to_tf32(int first) {
        static_assert(sizeof(T) == 4);
        constexpr int pieces = StagedMatrix<head_dim, T, by_columns>::pieces;
        for (int item = static_cast<int>(threadIdx.x) % warp_size; item < queries_of_warp * pieces; item += warp_size) {
            key.round_piece_to_tf32(first + item / pieces, item % pieces);
            value.round_piece_to_tf32(first + item / pieces, item % pieces);
        }
        __syncwarp();
    }
};

}  // namespace tile_detail

}  // namespace totograph::cuda
