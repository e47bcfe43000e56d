// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/async_copy.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

namespace totograph::cuda::tile_detail {

/// Some rows of a tile.
/// @tparam rounded  to tf32
template <class Matrix, bool rounded>
struct StagedPart {
    static constexpr bool is_rounded_to_tf32 = rounded;
    const Matrix& key;
    const Matrix& value;

    __device__ __forceinline__ auto key_at(int row, int first, int own) const { return key.at(row, first, own); }
    __device__ __forceinline__ auto value_at(int row, int first, int own) const { return value.at(row, first, own); }
};

/// Tiles of keys and values on their way to shared memory, of the prefix and then of a suffix: the only one, or each is
/// copied while the one before is multiplied. Each warp copies sixteen rows; those of a block beyond the tile's copy
/// nothing.
template <class K, Precision precision>
class TileStages {
    using Key = typename K::Key;
    using Tile = StagedTileOf<K>;
    using Matrix = decltype(Tile::key);
    using Pieces = LanePieces<Matrix>;
    static constexpr bool has_suffix = AttentionSizes<K>::has_suffix;
    /// Whether numbers are rounded in shared memory: once, not by each warp that reads them.
    static constexpr bool rounds = precision == Precision::tf32;
    /// Whether what a lane copies is found from one place in memory and one in shared memory.
    static constexpr bool copies_are_alike = K::is_aligned && Pieces::are_alike;
    static_assert(staged_warps<K> * queries_of_warp >= staged_keys<K>);

public:
    /// So many rows of a tile, from a multiple of eight on.
    template <int count>
    [[nodiscard]] static __device__ __forceinline__ auto part_of(const Tile& tile, int first) {
        const auto& key = tile.key.template from<count>(first);
        return StagedPart<std::remove_cvref_t<decltype(key)>, rounds>{key, tile.value.template from<count>(first)};
    }

    /// Begins to copy the first tile, before it is known how many keys are valid: one wait less.
    /// @param memory  for `tile_stages<K>` tiles
    __device__ __forceinline__ TileStages(const KernelCall& call, const TilePlace<K>& place, void* memory)
        : call_(call),
          place_(place),
          tiles_(static_cast<Tile*>(memory)),
          own_row_(static_cast<int>(threadIdx.x) / warp_size * queries_of_warp),
          end_(keys<K>) {
        copy(0);
    }

    /// Keys of the prefix and of the suffix lie before these numbers.
    __device__ __forceinline__ void set_ends(int end, int suffix_end) {
        end_ = end;
        prefix_tiles_ = (end + staged_keys<K> - 1) / staged_keys<K>;
        if constexpr (has_suffix) {
            suffix_end_ = max(suffix_end, 0);
            if (end == 0) {
                wait_for_copies<0>();
                __syncwarp();
                copy(0);
            }
        }
    }

    [[nodiscard]] __device__ __forceinline__ int count() const {
        return prefix_tiles_ + (suffix_end_ + staged_keys<K> - 1) / staged_keys<K>;
    }
    [[nodiscard]] __device__ __forceinline__ bool is_suffix(int turn) const {
        return has_suffix && turn >= prefix_tiles_;
    }
    /// The first key of a tile, and the end of what it is a part of.
    [[nodiscard]] __device__ __forceinline__ int first_key(int turn) const {
        return (is_suffix(turn) ? turn - prefix_tiles_ : turn) * staged_keys<K>;
    }
    [[nodiscard]] __device__ __forceinline__ int end(int turn) const { return is_suffix(turn) ? suffix_end_ : end_; }

    /// Begins to copy a tile, if there is one.
    __device__ __forceinline__ void copy(int turn) const {
        if (tile_stages<K> == 1 && turn > 0) {
            return;
        }
        if (!is_suffix(turn)) {
            copy_rows<1, 2>(turn);
        } else if constexpr (has_suffix) {
            copy_rows<suffix_key, suffix_value>(turn);
        }
        commit_copies();
    }

    /// Waits for a tile. All threads of the block call it; when it returns, all have done with the tile before.
    __device__ __forceinline__ const Tile& wait_for(int turn) const {
        Tile& tile = tile_of(turn);
        wait_for_copies<0>();
        __syncwarp();
        if (own_row_ < staged_keys<K>) {
            if constexpr (copies_are_alike) {
                if (turn == 0) {  // which is asked for before it is known where keys end
                    clear_behind_last_key(tile, turn);
                }
                if (!finish_own_rows(tile)) {
                    tile.without_infinite_values(own_row_);
                }
            } else {
                clear_behind_last_key(tile, turn);
                if constexpr (rounds) {
                    tile.round_to_tf32(own_row_);
                }
                tile.without_infinite_values(own_row_);
            }
        }
        __syncthreads();
        return tile;
    }

private:
    /// Rounds the warp's rows to tf32 where they are multiplied so. Returns whether their values are finite then.
    [[nodiscard]] __device__ __forceinline__ bool finish_own_rows(Tile& tile) const {
        if constexpr (rounds) {
            pieces_.round_to_tf32_at(own_rows_of(tile.key));
            const bool are_finite = pieces_.round_and_test_at(own_rows_of(tile.value));
            __syncwarp();
            return are_finite;
        } else {
            return pieces_.are_finite_at(own_rows_of(tile.value));
        }
    }

    /// Values behind the last one may be anything; no weight is small enough for what is not a number, or becomes
    /// none when it is cut for tensor cores.
    __device__ __forceinline__ void clear_behind_last_key(Tile& tile, int turn) const {
        for (int row = max(own_row_, end(turn) - first_key(turn)); row < own_row_ + queries_of_warp; ++row) {
            tile.value.clear_row(row);
        }
        __syncwarp();
    }

    [[nodiscard]] __device__ __forceinline__ Tile& tile_of(int turn) const { return tiles_[turn % tile_stages<K>]; }

    /// Where the rows lie that the warp copies.
    [[nodiscard]] __device__ __forceinline__ std::uint32_t own_rows_of(const Matrix& matrix) const {
        return shared_address(&matrix) + static_cast<std::uint32_t>(own_row_ * Matrix::row_bytes);
    }

    /// Begins to copy the warp's rows of a tile. Those behind the last key become zeros where that needs no branch,
    /// else they stay as they were.
    template <int key, int value>
    __device__ __forceinline__ void copy_rows(int turn) const {
        if (own_row_ >= staged_keys<K>) {
            return;
        }
        const auto key_row = shared_rows<K, key>(call_, place_);
        const auto value_row = shared_rows<K, value>(call_, place_);
        const int first = first_key(turn) + own_row_;
        const int last = end(turn);
        Tile& to = tile_of(turn);
        const auto element = [](unsigned i) { return Pieces::piece(i) * Matrix::piece_elements; };
        if constexpr (copies_are_alike) {
            const Key* const from_key = key_row(first + Pieces::row(0)) + element(0);
            const Key* const from_value = value_row(first + Pieces::row(0)) + element(0);
            const std::uint32_t to_key = own_rows_of(to.key);
            const std::uint32_t to_value = own_rows_of(to.value);
#pragma unroll
            for (unsigned i = 0; i < Pieces::count; ++i) {
                const bool exists = first + Pieces::row(i) < last;
                const auto distance = static_cast<Offset<K>>(i * Pieces::rows_at_once);
                copy_async_or_zeros(pieces_.at(to_key, i), from_key + distance * stride_of<key>, exists);
                copy_async_or_zeros(pieces_.at(to_value, i), from_value + distance * stride_of<value>, exists);
            }
        } else {
#pragma unroll
            for (unsigned i = 0; i < Pieces::count; ++i) {
                const int row = Pieces::row(i);
                if (first + row < last) {
                    to.key.template copy_piece<K::is_aligned>(own_row_ + row, Pieces::piece(i),
                                                              key_row(first + row) + element(i));
                    to.value.template copy_piece<K::is_aligned>(own_row_ + row, Pieces::piece(i),
                                                                value_row(first + row) + element(i));
                }
            }
        }
    }

    /// From one position of an operand to the next.
    template <int which>
    static constexpr auto stride_of =
        static_cast<Offset<K>>(K::kernel.operands[static_cast<std::size_t>(which)].strides[3]);

    const KernelCall& call_;
    const TilePlace<K>& place_;
    Tile* tiles_;
    int own_row_;
    Pieces pieces_;
    int end_;
    int prefix_tiles_ = 1;
    int suffix_end_ = 0;
};

}  // namespace totograph::cuda::tile_detail
