// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/gemm/gemm.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace gemm_detail {

/// Rows of a register tile: its accumulators, two weights and one input fill the registers.
inline constexpr int tile_rows = packet_registers == 32 ? 12 : 6;
/// Inputs are copied tile by tile to blocks of this many floats, so that they stay in the first-level cache and every
/// row of a tile is at a constant offset from one pointer.
inline constexpr Index tile_inputs = tile_rows * 272;
/// Panels that share a block of inputs: about 512 columns. Many rows are copied anew for each block of panels.
inline constexpr Index block_panels = std::max<Index>(1, 512 / panel_width);
/// How far ahead of the multiplication weights are brought to the second-level cache: it has room for more requests at
/// a time than the first, and memory's latency times its bandwidth is some kilobytes.
inline constexpr Index prefetch_bytes = 4096;
inline constexpr int prefetch_to_second_level = 2;
inline constexpr Index cache_line_bytes = 64;
/// With fewer rows weights are read as fast as memory gives them, and what the processor fetches by itself is enough.
/// With more, each line that was not asked for is waited for.
inline constexpr int rows_that_wait = 7;

/// The stride of the copied inputs of a tile: the fewer its rows, the longer the stretch of k that fits.
constexpr Index input_stride(Index rows) {
    return tile_inputs / rows / 16 * 16;
}

/// Panels that one kernel call computes: enough that few rows still keep some accumulators in flight.
constexpr int panels_at_once(int rows) {
    return rows == 1 ? 4 : rows == 2 ? 2 : 1;
}

/// Everything that a kernel reads and writes. `tile` is `[panels][gemm_block_rows][panel_width]`.
template <class Element>
struct KernelArguments {
    const float* x;
    const Element* weights;
    Index panel_stride;
    Index k;
    float* tile;
    bool continues;  ///< The tile holds the accumulators of a lesser k already.
    Index ahead;     ///< Elements from the weights that are multiplied to those to bring to the cache meanwhile.
};

/// Loads the two packets of weights of one k.
inline void load_weights(const float* from, Packet& first, Packet& second) noexcept {
    first = load_aligned(from);
    second = load_aligned(from + packet_size);
}

inline void load_weights(const std::uint32_t* from, Packet& first, Packet& second) noexcept {
    const PacketWords words = load_words_aligned(from);
    first = lower_bfloat16(words);
    second = upper_bfloat16(words);
}

/// Adds the GEMM of `rows` rows with `sizeof...(panel)` panels to a tile; `item` counts (panel, row) pairs.
template <class Storage, int rows, int... panel, int... item>
void multiply_tile(const KernelArguments<typename PackedMatrix<Storage>::Element>& arguments,
                   std::integer_sequence<int, panel...>, std::integer_sequence<int, item...>) noexcept {
    using Element = typename PackedMatrix<Storage>::Element;
    constexpr int panels = sizeof...(panel);
    constexpr Index row_elements = PackedMatrix<Storage>::row_elements;
    constexpr Index row_bytes = row_elements * static_cast<Index>(sizeof(Element));
    static_assert(row_bytes <= 2 * cache_line_bytes);

    float* const outputs[] = {arguments.tile + ((item / rows) * gemm_block_rows + item % rows) * panel_width...};
    Packet first[panels * rows];
    Packet second[panels * rows];
    if (arguments.continues) {
        ((first[item] = load_aligned(outputs[item]), second[item] = load_aligned(outputs[item] + packet_size)), ...);
    } else {
        ((first[item] = second[item] = zero_packet()), ...);
    }

    const float* x = arguments.x;
    const Element* weights[] = {arguments.weights + panel * arguments.panel_stride...};
    Packet first_weights[panels];
    Packet second_weights[panels];
    for (const float* const end = x + arguments.k; x != end; ++x) {
        (load_weights(weights[panel], first_weights[panel], second_weights[panel]), ...);
        (__builtin_prefetch(weights[panel] + arguments.ahead, 0, prefetch_to_second_level), ...);
        if constexpr (rows >= rows_that_wait && row_bytes > cache_line_bytes) {
            (__builtin_prefetch(weights[panel] + arguments.ahead + row_elements / 2, 0, prefetch_to_second_level), ...);
        }
        ((weights[panel] += row_elements), ...);
        const auto multiply_row = [&](int index, Packet input) {
            first[index] = multiply_add(input, first_weights[index / rows], first[index]);
            second[index] = multiply_add(input, second_weights[index / rows], second[index]);
        };
        (multiply_row(item, broadcast_packet(x[(item % rows) * input_stride(rows)])), ...);
    }
    ((store_aligned(outputs[item], first[item]), store_aligned(outputs[item] + packet_size, second[item])), ...);
}

template <class Storage, int rows, int panels>
void multiply_tile(const KernelArguments<typename PackedMatrix<Storage>::Element>& arguments) noexcept {
    multiply_tile<Storage, rows>(arguments, std::make_integer_sequence<int, panels>(),
                                 std::make_integer_sequence<int, panels * rows>());
}

/// The kernels of a storage type, by the number of rows less 1.
template <class Storage>
struct Kernels {
    using Function = void (*)(const KernelArguments<typename PackedMatrix<Storage>::Element>&) noexcept;
    using Table = std::array<Function, tile_rows>;

    static constexpr Table one_panel = []<int... index>(std::integer_sequence<int, index...>) {
        return Table{&multiply_tile<Storage, index + 1, 1>...};
    }
    (std::make_integer_sequence<int, tile_rows>());

    static constexpr Table several_panels = []<int... index>(std::integer_sequence<int, index...>) {
        return Table{&multiply_tile<Storage, index + 1, panels_at_once(index + 1)>...};
    }
    (std::make_integer_sequence<int, tile_rows>());
};

/// Tiles of so many rows.
constexpr Index tiles_of(Index row_count) {
    return divide_rounding_up(row_count, Index{tile_rows});
}

/// The first row of a tile. All tiles of a chunk have about the same rows, since a low one has few accumulators to hide
/// the latency of an addition.
constexpr Index first_row_of(Index tile, Index row_count) {
    return row_count * tile / tiles_of(row_count);
}

/// Copies `k` inputs of each row to where the kernels expect them.
inline void copy_inputs(const GemmInput& x, Index first_row, Index row_count, Index first_k, Index k,
                        float* inputs) noexcept {
    for (Index tile = 0; tile < tiles_of(row_count); ++tile, inputs += tile_inputs) {
        const Index first = first_row_of(tile, row_count);
        const Index rows = first_row_of(tile + 1, row_count) - first;
        for (Index row = 0; row < rows; ++row) {
            std::copy_n(x.row(first_row + first + row) + first_k, k, inputs + row * input_stride(rows));
        }
    }
}

/// A part of a GEMM that one thread computes at a time.
struct Chunk {
    Index first_row;
    Index row_count;
    Index first_panel;
    Index panel_count;
};

/// Multiplies copied inputs with some panels, over `k` inputs from `first_k` on.
///
/// All tiles of rows multiply with a panel before the next panel's turn, which is brought to the cache meanwhile.
/// Memory takes longer for a panel than one tile does, but not longer than several.
template <class Storage>
void multiply_inputs(const float* inputs, const PackedMatrix<Storage>& weights, const Chunk& chunk, Index first_k,
                     Index k,
                     float* tiles) noexcept {  // NOLINT(readability-non-const-parameter): kernels write to it
    using Element = typename PackedMatrix<Storage>::Element;
    constexpr Index row_elements = PackedMatrix<Storage>::row_elements;
    const Index tile_count = tiles_of(chunk.row_count);
    const bool is_one_tile = tile_count == 1;
    const Index to_next_k = first_k + k < weights.k() ? k * row_elements : 0;
    for (Index panel = 0; panel < chunk.panel_count;) {
        const int panels = panels_at_once(static_cast<int>(chunk.row_count));
        const bool is_several = is_one_tile && panel + panels <= chunk.panel_count;
        Index ahead = prefetch_bytes / static_cast<Index>(sizeof(Element));
        if (!is_one_tile && panel + 1 < chunk.panel_count) {
            ahead = weights.panel_stride();
        } else if (!is_one_tile && to_next_k != 0) {
            ahead = to_next_k - panel * weights.panel_stride();
        }
        for (Index tile = 0; tile < tile_count; ++tile) {
            const Index row = first_row_of(tile, chunk.row_count);
            const auto rows = static_cast<std::size_t>(first_row_of(tile + 1, chunk.row_count) - row);
            const auto& kernels = is_several ? Kernels<Storage>::several_panels : Kernels<Storage>::one_panel;
            kernels[rows - 1]({.x = inputs + tile * tile_inputs,
                               .weights = weights.panel(chunk.first_panel + panel) + first_k * row_elements,
                               .panel_stride = weights.panel_stride(),
                               .k = k,
                               .tile = tiles + (panel * gemm_block_rows + row) * panel_width,
                               .continues = first_k != 0,
                               .ahead = ahead});
        }
        panel += is_several ? panels : 1;
    }
}

template <class Storage>
void multiply_chunk(const GemmInput& x, const PackedMatrix<Storage>& weights, const Chunk& chunk, const GemmSink& sink,
                    int thread) noexcept {
    alignas(buffer_alignment) float inputs[gemm_block_rows / tile_rows * tile_inputs];
    alignas(buffer_alignment) float tiles[block_panels * gemm_block_rows * panel_width];
    if (chunk.row_count == 1) {  // one row has no stride, so it can be read where it is
        multiply_inputs(x.row(chunk.first_row), weights, chunk, 0, weights.k(), tiles);
    } else {
        const Index block_k = input_stride(divide_rounding_up(chunk.row_count, tiles_of(chunk.row_count)));
        for (Index first_k = 0; first_k < weights.k(); first_k += block_k) {
            const Index k = std::min(block_k, weights.k() - first_k);
            copy_inputs(x, chunk.first_row, chunk.row_count, first_k, k, inputs);
            multiply_inputs(inputs, weights, chunk, first_k, k, tiles);
        }
    }
    for (Index panel = 0; panel < chunk.panel_count; ++panel) {
        const Index first_column = (chunk.first_panel + panel) * weights.columns_per_panel();
        const Index column_count = std::min(weights.columns_per_panel(), weights.columns() - first_column);
        sink.function(sink.context, tiles + panel * gemm_block_rows * panel_width, panel_width, chunk.first_row,
                      chunk.row_count, first_column, column_count, thread);
    }
}

/// Panels of one chunk: fewer when there would not be some chunks for each thread.
inline Index panels_per_chunk(Index panels, Index row_blocks, int threads) noexcept {
    Index count = block_panels;
    while (count > 1 && divide_rounding_up(panels, count) * row_blocks < 4 * threads) {
        count /= 2;
    }
    return count;
}

}  // namespace gemm_detail

template <class Storage>
void gemm_into(ThreadPool& pool, const GemmInput& x, const PackedMatrix<Storage>& weights, GemmSink sink) noexcept {
    using namespace gemm_detail;
    const Index row_blocks = divide_rounding_up(x.rows, gemm_block_rows);
    const Index chunk_panels = panels_per_chunk(weights.panels(), row_blocks, pool.threads());
    const Index groups = divide_rounding_up(weights.panels(), chunk_panels);
    // Row blocks vary fastest, so that the weights of a group are still in the cache for the next block of rows.
    parallel_for(pool, groups * row_blocks, [&](Index index, int thread) {
        Chunk chunk{};
        chunk.first_row = index % row_blocks * gemm_block_rows;
        chunk.row_count = std::min(gemm_block_rows, x.rows - chunk.first_row);
        chunk.first_panel = index / row_blocks * chunk_panels;
        chunk.panel_count = std::min(chunk_panels, weights.panels() - chunk.first_panel);
        multiply_chunk(x, weights, chunk, sink, thread);
    });
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
