// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/kernel_facts.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/graph/kernel.hpp>

// What follows a GEMM: its chain, on accumulators that cuBLASLt left in memory, or that threads hold.

namespace totograph::cuda {

/// Copies the operands whose bit is set in `which`.
template <class Source, unsigned which, class Values>
__device__ __forceinline__ void copy_operands(const Values& from, Values& to) {
    constexpr auto first = static_cast<std::size_t>(Source::accumulators);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((chain_detail::at<first + i>(to) = chain_detail::at<first + i>(from)), ...);
    }
    (OperandsIn<Source, which>());
}

/// Elements that one thread of an epilogue computes: so many that it loads 16 bytes of accumulators.
template <class K, class Accumulator>
constexpr int epilogue_lanes() {
    constexpr int most = 16 / static_cast<int>(sizeof(Accumulator));
    constexpr bool is_small = K::kernel.iteration.size() < 65536;
    return K::kernel.iteration[-1] % most == 0 ? lanes_of<K>(is_small, most) : lanes_of<K>(is_small);
}

/// Rows of which one thread of an epilogue computes the same columns: what belongs to columns alone is read once.
template <class K>
constexpr int epilogue_rows() {
    return K::kernel.rows() >= 512 ? 4 : 1;
}

/// Threads that an epilogue keeps busy.
template <class K, class Accumulator>
constexpr Index epilogue_items() {
    return divide_rounding_up(K::kernel.rows(), Index{epilogue_rows<K>()}) *
           (K::kernel.columns() / epilogue_lanes<K, Accumulator>());
}

/// The columns of a lane in a row of a tile, which has so many `chunks` of eight: eight neighbours; but of a result
/// that is stored as f32 two fours, so that each access of neighbouring lanes together fills stretches of 32 bytes,
/// which the L2 cache takes at a time. With eight neighbours a lane, it would fill the halves of twice as many.
/// @tparam takes_fours  false for eight neighbours in any case
template <class K, int chunks, bool takes_fours = true>
class LaneColumns {
    static constexpr auto all_columns = static_cast<int>(K::kernel.columns());
    /// Lanes whose first fours follow each other, and their last fours behind those; 1 where each has eight neighbours.
    static constexpr int group = [] {
        constexpr Index inner = K::kernel.iteration[-1];
        if (takes_fours && std::is_same_v<Output<K>, float> && K::is_aligned &&
            inner_stride<K>(K::kernel.output_strides) == 1) {
            for (const int lanes : {8, 4, 2}) {
                if (chunks % lanes == 0 && (inner % (8 * lanes) == 0 || inner == all_columns)) {
                    return lanes;
                }
            }
        }
        return 1;
    }();
    /// Else the lanes of the last group, which has fewer columns, have eight neighbours each.
    static constexpr bool groups_are_whole = all_columns % (8 * group) == 0;

public:
    using Apart = std::conditional_t<groups_are_whole, std::integral_constant<int, 4 * group>, int>;

    /// Those of the lane that stands for a chunk of the tile from `first_column` on.
    __device__ __forceinline__ LaneColumns(int first_column, int chunk)
        : in_tile(chunk / group * (8 * group) + chunk % group * 4) {
        if constexpr (!groups_are_whole) {
            const bool is_whole = first_column + (chunk / group + 1) * (8 * group) <= all_columns;
            in_tile = is_whole ? in_tile : chunk * 8;
            apart = is_whole ? 4 * group : 4;
        }
    }

    int in_tile;                          ///< The first column.
    [[no_unique_address]] Apart apart{};  ///< As `load_fours` takes it.

    /// Where the lane begins to read, if its first column were `column`: a lane that has none reads what others do.
    static __device__ __forceinline__ int to_read(int column) {
        constexpr int reach = groups_are_whole ? 4 * group + 4 : 8;
        return min(column, all_columns - reach);
    }
    /// How far behind its first column a lane asks the nearest cache for what a chain reads, so that lanes ask for all:
    /// at the first of the eight columns that it would have as neighbours.
    [[nodiscard]] __device__ __forceinline__ int touched() const { return in_tile % (2 * apart); }
};

/// The chain of a GEMM on `lanes` columns of `each` rows: what it reads is asked for first, and what belongs to columns
/// or rows alone once.
/// @tparam Apart  of eight columns, as `load_fours` takes it
template <class K, int lanes, int each, class Apart = Neighbours>
class RowsEpilogue {
    static_assert(lanes == 8 || std::is_same_v<Apart, Neighbours>, "totograph: two fours are eight columns.");
    using Source = Epilogue<K>;
    /// Operands that are the same in all rows; of the others, those that are the same in all columns; and the rest.
    static constexpr unsigned of_columns = operands_that_repeat(K::kernel, 0, K::kernel.row_rank);
    static constexpr unsigned of_rows =
        operands_that_repeat(K::kernel, K::kernel.row_rank, K::kernel.iteration.rank) & ~of_columns;
    static constexpr unsigned of_both = ~(of_columns | of_rows);

public:
    /// What the chain reads of one place.
    using Operands = ChainValues<Source, lanes>;

    __device__ __forceinline__ explicit RowsEpilogue(const KernelCall& call) requires std::is_same_v<Apart, Neighbours>
        : RowsEpilogue(call, {}) {}
    __device__ __forceinline__ RowsEpilogue(const KernelCall& call, Apart apart)
        : pointers_(call), out_(call.output.get<Output<K>>(positions_of<K>(call))), apart_(apart) {}

    /// Rows, and what the chain reads of them.
    class Rows {
        friend RowsEpilogue;
        Place<K, K::kernel.row_rank> places_[each] = {};
        Operands operands_[each] = {};
    };

    /// Chooses rows, and asks for what they need: `row_at(i)` is the number of the `i`th, one that exists.
    template <class RowAt>
    [[nodiscard]] __device__ __forceinline__ Rows choose_rows(const RowAt& row_at) const {
        Rows rows;
#pragma unroll
        for (int i = 0; i < each; ++i) {
            rows.places_[i] = place_of<K, RowsOf<K>>(static_cast<Offset<K>>(row_at(i)));
            load_operands<K, Source, lanes, of_rows>(pointers_, join(rows.places_[i], ColumnPlace{}), rows.operands_[i],
                                                     apart_);
        }
        return rows;
    }

    /// Asks the nearest cache for what the chain reads of a row.
    __device__ __forceinline__ static void touch_row(const KernelCall& call, int row) {
        touch_operands<K, Source, of_rows>(OperandPointers<Source, of_rows>(call),
                                           join(place_of<K, RowsOf<K>>(static_cast<Offset<K>>(row)), ColumnPlace{}));
    }

    /// Asks the nearest cache for what the chain reads of the columns from `column` on.
    __device__ __forceinline__ static void touch_columns(const KernelCall& call, int column) {
        touch_operands<K, Source, of_columns>(
            OperandPointers<Source, of_columns>(call),
            join(RowPlace{}, place_of<K, ColumnsOf<K>>(static_cast<Offset<K>>(column))));
    }

    /// Asks for what the columns from `column` on need.
    __device__ __forceinline__ void load(int column, const Rows& rows, Operands (&operands)[each]) const {
        const auto of_column = place_of<K, ColumnsOf<K>>(static_cast<Offset<K>>(column));
        load_operands<K, Source, lanes, of_columns>(pointers_, join(rows.places_[0], of_column), operands[0], apart_);
        load_tables(column, rows, operands);
    }

    /// Of that, asks for what the rows need as well.
    __device__ __forceinline__ void load_tables(int column, const Rows& rows, Operands (&operands)[each]) const {
        const auto of_column = place_of<K, ColumnsOf<K>>(static_cast<Offset<K>>(column));
#pragma unroll
        for (int i = 0; i < each; ++i) {
            load_operands<K, Source, lanes, of_both>(pointers_, join(rows.places_[i], of_column), operands[i], apart_);
        }
    }
    /// Copies it.
    __device__ __forceinline__ static void copy_tables(const Operands (&from)[each], Operands (&to)[each]) {
#pragma unroll
        for (int i = 0; i < each; ++i) {
            copy_operands<Source, of_both>(from[i], to[i]);
        }
    }
    /// Asks the nearest cache for it, of rows as `choose_rows` takes them.
    template <class RowAt>
    __device__ __forceinline__ void touch_tables_at(int column, const RowAt& row_at) const {
        const auto of_column = place_of<K, ColumnsOf<K>>(static_cast<Offset<K>>(column));
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const auto of_row = place_of<K, RowsOf<K>>(static_cast<Offset<K>>(row_at(i)));
            touch_operands<K, Source, of_both>(pointers_, join(of_row, of_column));
        }
    }
    /// The same of rows that are chosen.
    __device__ __forceinline__ void touch_tables(int column, const Rows& rows) const {
        const auto of_column = place_of<K, ColumnsOf<K>>(static_cast<Offset<K>>(column));
#pragma unroll
        for (int i = 0; i < each; ++i) {
            touch_operands<K, Source, of_both>(pointers_, join(rows.places_[i], of_column));
        }
    }

    /// Runs the chain and stores what it makes.
    /// @param accumulators  gives of the `i`th row the accumulators of a factor of a pair, as floats
    /// @param exists        whether the `i`th row is to be stored
    /// @param use           is called with `i` and what the chain made of each row
    template <class AccumulatorsOf, class Exists, class Use>
    __device__ __forceinline__ void finish(int column, const Rows& rows, Operands (&operands)[each],
                                           const AccumulatorsOf& accumulators, const Exists& exists,
                                           const Use& use) const {
        const auto of_column = place_of<K, ColumnsOf<K>>(static_cast<Offset<K>>(column));
#pragma unroll
        for (int i = 0; i < each; ++i) {
            chain_detail::at<0>(operands[i]) = accumulators(i, std::integral_constant<int, 0>{});
            if constexpr (Source::accumulators == 2) {
                chain_detail::at<1>(operands[i]) = accumulators(i, std::integral_constant<int, 1>{});
            }
            copy_operands<Source, of_rows>(rows.operands_[i], operands[i]);
            if (i > 0) {
                copy_operands<Source, of_columns>(operands[0], operands[i]);
            }
        }
        // All rows before the first test: chains of several rows overlap, those behind a branch would not.
        Pack<Output<K>, lanes> results[each];
#pragma unroll
        for (int i = 0; i < each; ++i) {
            results[i] = stored_as<Output<K>>(run_chain<Source, lanes>(operands[i]));
            compute_now(results[i]);
        }
#pragma unroll
        for (int i = 0; i < each; ++i) {
            if (exists(i)) {
                Output<K>* const to = out_ + offset_of<K, StridesOfOutput<K>>(join(rows.places_[i], of_column));
                if constexpr (std::is_same_v<Apart, Neighbours>) {
                    store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(to, results[i]);
                } else {
                    store_fours<K::is_aligned>(to, results[i], apart_);
                }
            }
            use(i, results[i]);
        }
    }
    template <class AccumulatorsOf, class Exists>
    __device__ __forceinline__ void finish(int column, const Rows& rows, Operands (&operands)[each],
                                           const AccumulatorsOf& accumulators, const Exists& exists) const {
        finish(column, rows, operands, accumulators, exists, [](int, const auto&) {});
    }

private:
    using RowPlace = Place<K, K::kernel.row_rank>;
    using ColumnPlace = Place<K, ColumnsOf<K>::shape.rank>;

    __device__ __forceinline__ static Place<K, K::kernel.iteration.rank> join(const RowPlace& row,
                                                                              const ColumnPlace& column) {
        Place<K, K::kernel.iteration.rank> place;
#pragma unroll
        for (int axis = 0; axis < K::kernel.iteration.rank; ++axis) {
            place.at[axis] = axis < K::kernel.row_rank ? row.at[axis] : column.at[axis - K::kernel.row_rank];
        }
        return place;
    }

    OperandPointers<Source> pointers_;
    Output<K>* out_;
    [[no_unique_address]] Apart apart_;
};

/// The chain of a GEMM whose accumulators cuBLASLt left in memory, `row_stride` apart; those of a pair follow each
/// other. Done by `blocks` blocks, of which this is number `block`. Rows in no use are computed as well: a test of each
/// takes registers of which there are none to spare (62 to 64 became 75 to 80), and leaves out stores alone.
template <class K, class Accumulator>
__device__ void run_epilogue(const KernelCall& call, const Accumulator* accumulators, int row_stride, int block,
                             int blocks) {
    constexpr auto columns = static_cast<Offset<K>>(K::kernel.columns());
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.rows());
    constexpr int lanes = epilogue_lanes<K, Accumulator>();
    constexpr int each = epilogue_rows<K>();
    constexpr auto items = static_cast<Offset<K>>(epilogue_items<K, Accumulator>());
    using Epilogues = RowsEpilogue<K, lanes, each>;
    const Epilogues epilogue(call);
    for (Offset<K> item = static_cast<Offset<K>>(block) * block_threads + static_cast<Offset<K>>(threadIdx.x);
         item < items; item += static_cast<Offset<K>>(blocks) * block_threads) {
        const Offset<K> column = item % (columns / lanes) * lanes;
        const Offset<K> first = item / (columns / lanes) * each;
        // Rows beyond the last one read what that one reads, and store nothing.
        const auto row_at = [&](int i) { return rows % each == 0 ? first + i : min(first + i, rows - 1); };
        typename Epilogues::Operands operands[each];
        const auto chosen = epilogue.choose_rows(row_at);
        epilogue.load(static_cast<int>(column), chosen, operands);
        Pack<float, lanes> loaded[each][Epilogue<K>::accumulators];
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const Accumulator* from = accumulators + static_cast<Index>(row_at(i)) * row_stride + column;
#pragma unroll
            for (int factor = 0; factor < Epilogue<K>::accumulators; ++factor) {
                loaded[i][factor] = as_floats(load_pack<1, lanes, K::is_aligned>(from + factor * columns));
            }
        }
        epilogue.finish(
            static_cast<int>(column), chosen, operands, [&](int i, auto factor) { return loaded[i][factor]; },
            [&](int i) { return rows % each == 0 || first + i < rows; });
    }
}

}  // namespace totograph::cuda
