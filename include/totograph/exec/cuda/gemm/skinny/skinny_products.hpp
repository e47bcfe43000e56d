// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_arithmetic.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_tile_sizes.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_weights.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/graph/kernel.hpp>

// What blocks of skinny GEMMs of more rows than one tensor core instruction takes multiply, and what of the results
// they read, whether each has all of k or those of a cluster share it.

namespace totograph::cuda {

namespace skinny_detail {

/// What stands for the positions of such a GEMM's addresses.
template <class K>
using TilePositions = std::conditional_t<K::has_positions, ReportedAtEnd, NoPositions>;

template <class K>
__device__ __forceinline__ auto place_in_result(int row, int column) {
    return place_of<K, IterationOf<K>>(static_cast<Offset<K>>(row) * static_cast<int>(K::kernel.columns()) + column);
}

/// Asks for what the chain reads, on its way while the GEMM is computed. A thread that has no row of its own reads that
/// of the last one: a branch here would have the compiler ask for inputs one after the other.
/// @param first_column  of the results
template <class Member, class Results>
__device__ __forceinline__ void load_chain_operands(
    const KernelCall& call, const Results& results, int first_column,
    ChainValues<Epilogue<typename Member::K>, Results::lanes> (&values)[Results::rows_per_thread]) {
    using K = typename Member::K;
    using Source = Epilogue<K>;
    constexpr unsigned which = ~Member::scale_bit;
    const OperandPointers<Source, which> pointers(call, TilePositions<K>());
#pragma unroll
    for (int i = 0; i < Results::rows_per_thread; ++i) {
        const int row = min(results.row(i), static_cast<int>(K::kernel.rows()) - 1);
        load_operands<K, Source, Results::lanes, which>(
            pointers, place_in_result<K>(row, first_column + results.column), values[i]);
    }
}

}  // namespace skinny_detail

/// The products of a block.
/// @tparam has_reduction  whether the squares of rows are added up as well
template <class Member, bool has_reduction, int groups, int turns>
class SkinnyProducts {
    using K = typename Member::K;
    using Input = typename Member::Input;
    using Tiles = SkinnyTiles<Member, groups, turns>;
    using Turn = typename Tiles::Turn;
    using Weights = skinny_detail::Weights<Member, groups>;
    using WeightPlaces = skinny_detail::WeightPlaces<Member>;
    using Words = typename Member::Arithmetic::Words;
    using Chunks = skinny_detail::Chunks<Member>;
    using Arithmetic = typename Member::Arithmetic;
    using InputPack = skinny_detail::InputPack<Member>;
    using ThreadPlace = skinny_detail::ThreadPlace;
    static constexpr int tiles = Tiles::tiles;
    static constexpr int factors = Tiles::factors;

    /// The inputs of a chunk.
    using Inputs = InputPack[tiles][2];

public:
    /// The inputs that are kept, the accumulators, and the sums of squares of a thread.
    using Kept = skinny_detail::KeptPack<Member>[Chunks::per_warp][tiles][2];
    using Accumulators = float[factors][groups][tiles][4];
    using Squares = float[tiles][2];

    /// Reads all inputs of a warp, if it keeps them.
    static __device__ __forceinline__ void begin(const Input* input, const ThreadPlace& thread, Kept& kept,
                                                 Squares& square) {
        if constexpr (Tiles::keeps_inputs) {
            keep_inputs(input, thread, kept, square);
        }
    }

    /// Adds up the products of a warp's chunks. Where the block `goes_on`, the weights of its next turn are asked for
    /// in the place of those that were multiplied.
    static __device__ __forceinline__ void multiply(const Input* input, const Kept& kept, const ThreadPlace& thread,
                                                    const WeightPlaces& next, bool goes_on, Weights& weights,
                                                    Accumulators& accumulators, Squares& square) {
        if constexpr (Tiles::keeps_inputs) {
            multiply_kept(kept, thread, next, goes_on, weights, accumulators);
        } else {
            clear(square);
            multiply_read(input, thread, next, goes_on, weights, accumulators, square);
        }
    }

    /// Puts what a warp found into shared memory.
    static __device__ __forceinline__ void store_partial(const Accumulators& accumulators, const Squares& square,
                                                         const ThreadPlace& thread, Turn& found) {
        const int warp = thread.warp / Member::parts;  // of the block
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = tile * skinny_m + half * 8 + thread.row;
#pragma unroll
                for (int a = 0; a < factors; ++a) {
#pragma unroll
                    for (int group = 0; group < groups; ++group) {
                        const float* const from = &accumulators[a][group][tile][half * 2];
                        auto* const to = &found.accumulators[warp][a][row][group * skinny_n + thread.quarter * 2];
                        *reinterpret_cast<float2*>(to) = {from[0], from[1]};
                    }
                }
                if constexpr (has_reduction) {
                    const float total = sum_of_group<4>(square[tile][half]);
                    if (thread.quarter == 0) {
                        found.squares[warp][row] = total;
                    }
                }
            }
        }
    }

    /// What the warps of a block found, of some neighbours of a row, in the sum.
    static __device__ __forceinline__ Pack<float, Tiles::lanes> sum_of_warps(const Turn& found, int factor, int row,
                                                                             int column) {
        constexpr int warps = Tiles::warps;
        constexpr int lanes = Tiles::lanes;
        Pack<float, lanes> parts[warps];
#pragma unroll
        for (int other = 0; other < warps; ++other) {
            parts[other] = load_pack<1, lanes, true>(&found.accumulators[other][factor][row][column]);
        }
        Pack<float, lanes> total;
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            total.lane[lane] = skinny_detail::tree_sum<warps>([&](int other) { return parts[other].lane[lane]; });
        }
        return total;
    }

private:
    /// The same of inputs that are read for it.
    static __device__ __forceinline__ void multiply_read(const Input* input, const ThreadPlace& thread,
                                                         const WeightPlaces& next, bool goes_on, Weights& weights,
                                                         Accumulators& accumulators, Squares& square) {
        constexpr int together = Tiles::chunks_together;
        Inputs x[together];
        load_chunks<together>(input, thread, 0, x);
#pragma unroll
        for (int j = 0; j < Chunks::per_warp; ++j) {
            if (!Chunks::exists(j, thread)) {
                break;
            }
            Inputs& inputs = x[j % together];
#pragma unroll
            for (int tile = 0; tile < tiles; ++tile) {
                if constexpr (has_reduction) {
                    add_squares(inputs[tile], square[tile]);
                }
                multiply_tile(inputs[tile], weights[j], tile, accumulators);
            }
            if (j + together < Chunks::per_warp) {
                load_inputs(input, thread, j + together, inputs);
            }
            if constexpr (turns > 1) {
                load_next_weights(next, goes_on, thread, j, weights[j]);
            }
        }
    }

    /// The same of inputs that were kept.
    static __device__ __forceinline__ void multiply_kept(const Kept& kept, const ThreadPlace& thread,
                                                         const WeightPlaces& next, bool goes_on, Weights& weights,
                                                         Accumulators& accumulators) {
#pragma unroll
        for (int j = 0; j < Chunks::per_warp; ++j) {
            if (!Chunks::exists(j, thread)) {
                break;
            }
#pragma unroll
            for (int tile = 0; tile < tiles; ++tile) {
                multiply_tile(kept[j][tile], weights[j], tile, accumulators);
            }
            load_next_weights(next, goes_on, thread, j, weights[j]);
        }
    }

    /// Reads all inputs of a warp.
    static __device__ __forceinline__ void keep_inputs(const Input* input, const ThreadPlace& thread, Kept& kept,
                                                       Squares& square) {
        constexpr int together = Tiles::chunks_to_keep_together;
#pragma unroll
        for (int first = 0; first < Chunks::per_warp; first += together) {
            Inputs x[together];
            load_chunks<together>(input, thread, first, x);
#pragma unroll
            for (int j = first; j < first + together && j < Chunks::per_warp; ++j) {
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile) {
                    if constexpr (has_reduction) {
                        add_squares(x[j - first][tile], square[tile]);
                    }
                    kept[j][tile][0] = Arithmetic::kept(x[j - first][tile][0]);
                    kept[j][tile][1] = Arithmetic::kept(x[j - first][tile][1]);
                }
            }
        }
    }

    static __device__ __forceinline__ void clear(Squares& square) {
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile) {
            square[tile][0] = 0;
            square[tile][1] = 0;
        }
    }

    /// Asks for the inputs of chunks that follow each other.
    template <int together>
    static __device__ __forceinline__ void load_chunks(const Input* input, const ThreadPlace& thread, int first,
                                                       Inputs (&x)[together]) {
#pragma unroll
        for (int i = 0; i < together; ++i) {
            if (first + i < Chunks::per_warp) {
                load_inputs(input, thread, first + i, x[i]);
            }
        }
        if constexpr (together > 1) {
            // No load moves behind this: else the compiler waits for the first ones before it asks for the others.
            __syncwarp();
        }
    }

    static __device__ __forceinline__ void load_next_weights(const WeightPlaces& next, bool goes_on,
                                                             const ThreadPlace& thread, int j,
                                                             Words (&weights)[factors][groups]) {
        const bool exist = goes_on && WeightPlaces::exist(j, thread);
        const std::uint64_t policy = skinny_detail::weights_policy();
#pragma unroll
        for (int a = 0; a < factors; ++a) {
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                next.load_if(exist, j, skinny_detail::columns_to<Member>(a, group), policy, weights[a][group]);
            }
        }
    }

    /// Asks for the inputs of the warp's `j`th chunk.
    static __device__ __forceinline__ void load_inputs(const Input* input, const ThreadPlace& thread, int j,
                                                       Inputs& x) {
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                x[tile][half] = skinny_detail::load_input<Member>(input, thread, tile * skinny_m + half * 8, j);
            }
        }
    }

    static __device__ __forceinline__ void add_squares(const InputPack (&x)[2], float (&square)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float sum[1] = {square[half]};
            skinny_detail::add_squares(x[half], sum);
            square[half] = sum[0];
        }
    }

    template <class Element>
    static __device__ __forceinline__ void multiply_tile(const Pack<Element, Chunks::lane_k> (&x)[2],
                                                         const Words (&weights)[factors][groups], int tile,
                                                         Accumulators& accumulators) {
        const skinny_detail::RowsOfChunk<Arithmetic, true, Element> rows_of_tile(x[0], x[1]);
#pragma unroll
        for (int a = 0; a < factors; ++a) {
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                skinny_detail::multiply_chunk<Arithmetic>(accumulators[a][group][tile], rows_of_tile.of,
                                                          weights[a][group]);
            }
        }
    }
};

}  // namespace totograph::cuda
