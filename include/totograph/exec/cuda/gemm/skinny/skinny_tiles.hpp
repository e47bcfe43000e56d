// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_gemm.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

// Skinny GEMMs of more rows than one tensor core instruction takes, by blocks that know nothing of each other.

namespace totograph::cuda {

/// How a block computes `groups` times `skinny_n` columns of more than `skinny_m` rows.
template <class K, int groups>
struct SkinnyTiles {
    static constexpr int warps = block_threads / warp_size;
    static constexpr int tiles = static_cast<int>((K::kernel.rows() + skinny_m - 1) / skinny_m);
    static constexpr int rows = tiles * skinny_m;
    static constexpr int accumulators = K::kernel.accumulators;
    static constexpr int chunks = static_cast<int>(K::kernel.depth) / skinny_k;
    static constexpr int chunks_per_warp = (chunks + warps - 1) / warps;
    static constexpr int columns = groups * skinny_n;
    /// Of accumulators in shared memory: odd multiples of eight, so that the lanes that store at a time do so to all
    /// banks.
    static constexpr int stride = groups % 2 == 1 ? columns : columns + skinny_n;

    /// Neighbours that a thread finishes, and how many times.
    static constexpr int lanes = lanes_of<K>(false, 2);
    static constexpr int threads_a_row = columns / lanes;
    static constexpr int rows_at_once = block_threads / threads_a_row;
    static constexpr int turns = (static_cast<int>(K::kernel.rows()) + rows_at_once - 1) / rows_at_once;

    /// Registers of a thread for weights and accumulators, and for inputs in f32. It has 255.
    static constexpr int registers = 4 * groups * accumulators * (chunks_per_warp + tiles) + 16 * tiles;
    static constexpr int most_registers = 240;

    float sums[warps][accumulators][rows][stride];
    float squares[warps][rows];

    static constexpr std::size_t shared_bytes =
        sizeof(float) * warps * rows * (static_cast<std::size_t>(accumulators) * stride + 1);
    static constexpr bool fits = registers <= most_registers && shared_bytes <= least_shared_bytes_of_block;
};

/// Some columns of one GEMM of more than `skinny_m` rows, by one block.
template <class Member, class Reduction, int groups>
__device__ void run_skinny_tiles(const KernelCall& call, int block, std::byte* memory) {
    using namespace skinny_detail;
    using K = typename Member::K;
    using Source = Epilogue<K>;
    using Tiles = SkinnyTiles<K, groups>;
    constexpr int warps = Tiles::warps;
    constexpr int tiles = Tiles::tiles;
    constexpr int accumulators = Tiles::accumulators;
    constexpr int chunks = Tiles::chunks;
    constexpr int chunks_per_warp = Tiles::chunks_per_warp;
    constexpr auto depth = static_cast<int>(K::kernel.depth);
    constexpr auto rows = static_cast<int>(K::kernel.rows());
    constexpr auto columns = static_cast<int>(K::kernel.columns());
    constexpr bool has_reduction = !std::is_same_v<Reduction, NoReduction>;
    constexpr bool is_even = chunks % warps == 0;
    auto& shared = *reinterpret_cast<Tiles*>(memory);

    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int quarter = lane % 4;
    const int first_column = block * Tiles::columns;

    // Before the kernel before has ended: weights alone.
    uint4 weights[chunks_per_warp][accumulators][groups];
    const auto* weight = static_cast<const __nv_bfloat16*>(call.weight);
    const std::uint64_t policy = weights_policy();
#pragma unroll
    for (int j = 0; j < chunks_per_warp; ++j) {
        const int chunk = warp + j * warps;
#pragma unroll
        for (int a = 0; a < accumulators; ++a) {
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                const int column = a * columns + first_column + group * skinny_n + lane / 4;
                const auto* from = weight + static_cast<std::size_t>(column) * depth + chunk * skinny_k + quarter * 8;
                weights[j][a][group] = is_even || chunk < chunks
                                           ? load_weights(reinterpret_cast<const uint4*>(from), policy)
                                           : uint4{0, 0, 0, 0};
            }
        }
    }

    wait_for_predecessor();
    launch_dependents();

    // What the chain reads is on its way while GEMMs are computed. Each thread has the same columns of several rows.
    // One that has none reads those of the last row: a branch here would have the compiler ask for inputs one after the
    // other.
    constexpr int lanes = Tiles::lanes;
    constexpr int turns = Tiles::turns;
    const auto thread = static_cast<int>(threadIdx.x);
    const bool finishes = thread < Tiles::rows_at_once * Tiles::threads_a_row;
    const int own_column = thread % Tiles::threads_a_row * lanes;
    const int own_row = thread / Tiles::threads_a_row;
    const auto place_in = [&](int row) {
        return place_of<K, IterationOf<K>>(static_cast<Offset<K>>(row) * columns + first_column + own_column);
    };
    constexpr unsigned scale_bit = Member::scale_operand < 0 ? 0U : 1U << Member::scale_operand;
    constexpr std::conditional_t<K::has_positions, ReportedAtEnd, NoPositions> positions{};
    auto* const out = call.output.get<Output<K>>(positions);
    const OperandPointers<Source, ~scale_bit> pointers(call, positions);
    ChainValues<Source, lanes> values[turns];
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
        const int row = min(own_row + turn * Tiles::rows_at_once, rows - 1);
        load_operands<K, Source, lanes, ~scale_bit>(pointers, place_in(row), values[turn]);
    }

    using Input = typename Member::Input;
    static_assert(!has_reduction || std::is_same_v<Input, float>,
                  "totograph: a norm is of inputs that are stored as f32.");
    const auto* input = call.input.get<Input>(positions);
    float sums[accumulators][groups][tiles][4] = {};
    float square[tiles][2] = {};
#pragma unroll
    for (int j = 0; j < chunks_per_warp; ++j) {
        const int chunk = warp + j * warps;
        if (!is_even && chunk >= chunks) {
            break;
        }
        Pack<Input, 8> x[tiles][2];
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = tile * skinny_m + half * 8 + lane / 4;
                x[tile][half] = {};
                if (rows % skinny_m == 0 || row < rows) {
                    x[tile][half] =
                        load_eight<K::is_aligned>(input + static_cast<std::size_t>(row) * K::kernel.input_stride +
                                                  chunk * skinny_k + quarter * 8);
                }
            }
        }
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile) {
            const auto& low = x[tile][0];
            const auto& high = x[tile][1];
            if constexpr (has_reduction) {
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    square[tile][0] += low.lane[i] * low.lane[i];
                    square[tile][1] += high.lane[i] * high.lane[i];
                }
            }
#pragma unroll
            for (int step = 0; step < 2; ++step) {
                const std::uint32_t part[4] = {pair_of(low, step * 4), pair_of(high, step * 4),
                                               pair_of(low, step * 4 + 2), pair_of(high, step * 4 + 2)};
#pragma unroll
                for (int a = 0; a < accumulators; ++a) {
#pragma unroll
                    for (int group = 0; group < groups; ++group) {
                        const uint4& words = weights[j][a][group];
                        multiply_bf16(sums[a][group][tile], part, step == 0 ? words.x : words.z,
                                      step == 0 ? words.y : words.w);
                    }
                }
            }
        }
    }
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = tile * skinny_m + half * 8 + lane / 4;
#pragma unroll
            for (int a = 0; a < accumulators; ++a) {
#pragma unroll
                for (int group = 0; group < groups; ++group) {
                    const float* const from = &sums[a][group][tile][half * 2];
                    auto* const to = &shared.sums[warp][a][row][group * skinny_n + quarter * 2];
                    *reinterpret_cast<float2*>(to) = {from[0], from[1]};
                }
            }
            if constexpr (has_reduction) {
                const float total = sum_of_group<4>(square[tile][half]);
                if (quarter == 0) {
                    shared.squares[warp][row] = total;
                }
            }
        }
    }
    __syncthreads();

#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
        const int row = own_row + turn * Tiles::rows_at_once;
        if (!finishes || row >= rows) {
            break;
        }
        const auto sum_of = [&](int a) {
            Pack<float, lanes> total = {};
#pragma unroll
            for (int other = 0; other < warps; ++other) {
                const auto part = load_pack<1, lanes, true>(&shared.sums[other][a][row][own_column]);
#pragma unroll
                for (int i = 0; i < lanes; ++i) {
                    total.lane[i] += part.lane[i];
                }
            }
            return total;
        };
        chain_detail::at<0>(values[turn]) = sum_of(0);
        if constexpr (accumulators == 2) {
            chain_detail::at<1>(values[turn]) = sum_of(1);
        }
        if constexpr (has_reduction) {
            float total = 0;
#pragma unroll
            for (int other = 0; other < warps; ++other) {
                total += shared.squares[other][row];
            }
            const float scale = finish_row<Reduction>(OperandPointers<Epilogue<Reduction>>(call, positions),
                                                      place_of<Reduction, RowsOf<Reduction>>(row), total);
#pragma unroll
            for (int i = 0; i < lanes; ++i) {
                chain_detail::at<static_cast<std::size_t>(accumulators + Member::scale_operand)>(values[turn]).lane[i] =
                    scale;
            }
        }
        store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(
            out + offset_of<K, StridesOfOutput<K>>(place_in(row)),
            stored_as<Output<K>>(run_chain<Source, lanes>(values[turn])));
    }
    if (block == 0 && thread == 0) {
        report_positions<K>(call);
    }
}

}  // namespace totograph::cuda
