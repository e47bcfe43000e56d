// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/epilogue.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>

// The chain of a GEMM on the accumulators of a tile, which those who multiply leave in shared memory: other warps run
// the chain on them while the next tile is multiplied.

namespace totograph::cuda {

/// The accumulators of a tile, as bf16: rounded as cuBLASLt that leaves them in memory rounds them. A row's chunks of
/// eight columns lie in an order that depends on the row, so that neither side waits for a bank.
template <int columns, int rows_of_tile>
class TileAccumulators {
public:
    static constexpr int rows = rows_of_tile;
    static constexpr int rows_of_warp = 16;  ///< That a warp stores.
    static constexpr int chunks = columns / 8;
    static constexpr int chunk_bytes = 16;
    static constexpr int places_of_row = (chunks + 7) / 8 * 8;  ///< Eight chunks change places with each other.
    static constexpr bool gives_fours = false;                  ///< Else any columns that `LaneColumns` has.
    static constexpr std::size_t bytes = std::size_t{rows} * places_of_row * chunk_bytes;
    static_assert(columns % 16 == 0, "totograph: a thread stores two chunks at a time.");

    /// Where eight columns of a row begin, in bytes.
    static constexpr int chunk_offset(int row, int chunk) {
        return (row * places_of_row + (chunk ^ row % 8)) * chunk_bytes;
    }

    __device__ __forceinline__ explicit TileAccumulators(std::byte* memory) : memory_(memory) {}

#if defined(TOTOGRAPH_HAS_WGMMA)
    /// Stores what a warpgroup's GEMMs left in its threads: 64 rows, from `first` on.
    __device__ __forceinline__ void store(const float (&acc)[columns / 2], int first) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warp = static_cast<int>(threadIdx.x) % warpgroup_size / 32;
        // A lane names the place of one row of one of four matrices of 8x8.
        const int row = first + warp * rows_of_warp + lane / 8 % 2 * 8 + lane % 8;
#pragma unroll
        for (int chunk = 0; chunk < chunks; chunk += 2) {
            stmatrix(place(row, chunk + lane / 16), two_bf16(acc[4 * chunk], acc[4 * chunk + 1]),
                     two_bf16(acc[4 * chunk + 2], acc[4 * chunk + 3]), two_bf16(acc[4 * chunk + 4], acc[4 * chunk + 5]),
                     two_bf16(acc[4 * chunk + 6], acc[4 * chunk + 7]));
        }
    }
#endif

    /// Eight neighbouring columns of a row.
    __device__ __forceinline__ Pack<float, 8> load(int row, int column, Neighbours) const {
        return load_stored<8, true>(reinterpret_cast<const BFloat16*>(place(row, column / 8))).floats();
    }

private:
    __device__ __forceinline__ std::byte* place(int row, int chunk) const {
        return memory_ + chunk_offset(row, chunk);
    }

    std::byte* memory_;
};

/// The same as f32, for a chain that stores f32: with a gap behind each row, so that who stores does not wait for a
/// bank.
template <int columns, int rows_of_tile>
class TileAccumulatorsF32 {
public:
    static constexpr int rows = rows_of_tile;
    static constexpr int chunks = columns / 8;
    static constexpr bool gives_fours = true;
    static constexpr int row_stride = columns + 8;
    static constexpr std::size_t bytes = std::size_t{rows} * row_stride * sizeof(float);
    static_assert(row_stride % 32 == 8, "totograph: rows begin eight banks apart.");

    __device__ __forceinline__ explicit TileAccumulatorsF32(std::byte* memory)
        : memory_(reinterpret_cast<float*>(memory)) {}

#if defined(TOTOGRAPH_HAS_WGMMA)
    /// As of `TileAccumulators`.
    __device__ __forceinline__ void store(const float (&acc)[columns / 2], int first) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warp = static_cast<int>(threadIdx.x) % warpgroup_size / 32;
        float* const to = memory_ + (first + warp * 16 + lane / 4) * row_stride + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < columns / 2; i += 2) {
            *reinterpret_cast<float2*>(to + i / 2 % 2 * 8 * row_stride + i / 4 * 8) = make_float2(acc[i], acc[i + 1]);
        }
    }
#endif

    /// Eight columns of a row, as `LaneColumns` has them.
    template <class Apart>
    __device__ __forceinline__ Pack<float, 8> load(int row, int column, Apart apart) const {
        return load_fours<1, true>(memory_ + row * row_stride + column, apart);
    }

private:
    float* memory_;
};

/// Rows that a warp runs the chain on at a time, unless registers hold more.
inline constexpr int turn_rows = 4;

/// The rows of a tile that a warp runs the chain on: a turn's from `first` on, then those `stride` further, to before
/// `end`.
struct TileRows {
    int first;
    int end;
    int stride;
};

/// The part of a warp in the chain of a GEMM on a tile: each lane has the same columns of several rows, eight of them.
///
/// @tparam Accumulators     of a tile; of a pair of GEMMs, half of its columns are of each
/// @tparam Rows             of tiles (`AllTileRows`, `UsedTileRows`)
/// @tparam tiles_are_whole  none reaches beyond the last row
/// @tparam rows_of_turn     that it runs the chain on at a time
/// @tparam loads_ahead      registers hold what the rows of two turns need
template <class K, class Accumulators, class Rows, bool tiles_are_whole, int rows_of_turn = turn_rows,
          bool loads_ahead = false>
class TileEpilogue {
    static constexpr auto all_columns = static_cast<int>(K::kernel.columns());
    static constexpr int chunks = Accumulators::chunks / K::kernel.accumulators;
    /// Lanes that a row takes; those beyond its chunks do as the last one does, and store nothing.
    static constexpr int lanes_of_row = static_cast<int>(std::bit_ceil(unsigned{chunks}));
    static constexpr int rows_at_once = 32 / lanes_of_row;
    static constexpr int each = rows_of_turn / rows_at_once;  ///< Rows of a lane in a turn.
    static constexpr bool columns_are_whole = chunks == lanes_of_row && all_columns % (chunks * 8) == 0;
    static_assert(rows_of_turn % rows_at_once == 0);
    static_assert(epilogue_of(K::kernel, true).is_short, "totograph: a chain on tiles is short.");
    using Columns = LaneColumns<K, chunks, Accumulators::gives_fours>;
    using Epilogues = RowsEpilogue<K, 8, each, typename Columns::Apart>;

public:
    /// Asks for what the columns need, and the first rows. Warps that only finish make it before the accumulators are
    /// there.
    /// @param first_row, first_column  where the tile begins
    /// @param own                      the rows of the tile that this warp finishes
    __device__ __forceinline__ TileEpilogue(const KernelCall& call, const Rows& rows, int first_row, int first_column,
                                            const TileRows& own)
        : columns_(first_column, chunk_of(static_cast<int>(threadIdx.x))),
          epilogue_(call, columns_.apart),
          rows_(rows),
          first_row_(first_row),
          row_(own.first + static_cast<int>(threadIdx.x) % 32 / lanes_of_row),
          end_(own.end),
          step_(own.stride),
          column_(column_to_read(first_column + columns_.in_tile)),
          is_stored_(columns_are_whole || (static_cast<int>(threadIdx.x) % lanes_of_row < chunks &&
                                           first_column + columns_.in_tile < all_columns)),
          chosen_(choose(row_)) {
        epilogue_.load(column_, chosen_, operands_);
    }

    /// Stores what the chain makes of the accumulators.
    /// @param use  is called for each row with how far its two fours are apart, its number, the first column, whether
    ///             the columns are of the GEMM, whether the row is, too, and the eight results
    template <class Use>
    __device__ __forceinline__ void finish(const Accumulators& acc, const Use& use) {
#pragma unroll 1
        for (int row = row_; row < end_; row += step_) {
            // Asked for now, what the next rows need is there when this turn has ended.
            const bool is_last = row + step_ >= end_;
            typename Epilogues::Rows next;
            [[maybe_unused]] typename Epilogues::Operands ahead[each];
            if constexpr (loads_ahead) {
                if (!is_last) {
                    next = choose(row + step_);
                    epilogue_.load_tables(column_, next, ahead);
                }
            } else {
                next = choose(is_last ? row : row + step_);
                if (!is_last) {
                    epilogue_.touch_tables(column_ + columns_.touched(), next);
                }
            }
            epilogue_.finish(
                column_, chosen_, operands_,
                [&](int i, auto factor) {
                    return acc.load(row + i * rows_at_once, columns_.in_tile + factor * (chunks * 8), columns_.apart);
                },
                [&](int i) { return exists(row + i * rows_at_once); },
                [&](int i, const auto& result) {
                    const int own = row + i * rows_at_once;
                    use(columns_.apart, first_row_ + own, column_, is_stored_, exists(own), result);
                });
            if constexpr (loads_ahead) {
                if (!is_last) {
                    chosen_ = next;
                    Epilogues::copy_tables(ahead, operands_);
                }
            } else {
                chosen_ = next;  // always: in a branch, this takes gates 33 us for 24 (`batch_22m`)
                if (!is_last) {
                    epilogue_.load_tables(column_, chosen_, operands_);
                }
            }
        }
    }

    __device__ __forceinline__ void finish(const Accumulators& acc) {
        finish(acc, [](const auto&...) {});
    }

    /// Asks the nearest cache for what the chain on a tile reads: warp `warp` of `warps` for its part.
    __device__ __forceinline__ static void touch(const KernelCall& call, const Rows& rows, int first_row,
                                                 int first_column, int warp, int warps) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        for (int first = warp * 32; first < Accumulators::rows; first += warps * 32) {
            Epilogues::touch_row(call, row_to_read(rows, first_row + first + lane));
        }
        if (warp == warps - 1) {
            Epilogues::touch_columns(call, min(first_column + chunk_of(lane) * 8, all_columns - 8));
        }
    }

private:
    static __device__ __forceinline__ int chunk_of(int thread) {
        return min(thread % lanes_of_row, chunks - 1);
    }
    /// A row that exists; what comes of it in place of one beyond the last row is not stored.
    static __device__ __forceinline__ int row_to_read(const Rows& rows, int row) {
        return tiles_are_whole ? row : rows.row_to_read(row);
    }
    [[nodiscard]] __device__ __forceinline__ bool exists(int row) const {
        return is_stored_ && (tiles_are_whole || rows_.exists(first_row_ + row));
    }
    static __device__ __forceinline__ int column_to_read(int column) {
        return columns_are_whole ? column : Columns::to_read(column);
    }
    __device__ __forceinline__ typename Epilogues::Rows choose(int row) const {
        return epilogue_.choose_rows([&](int i) { return row_to_read(rows_, first_row_ + row + i * rows_at_once); });
    }

    Columns columns_;
    Epilogues epilogue_;
    const Rows& rows_;
    int first_row_;
    int row_;
    int end_;
    int step_;
    int column_;
    bool is_stored_;
    typename Epilogues::Rows chosen_;
    typename Epilogues::Operands operands_[each];
};

}  // namespace totograph::cuda
