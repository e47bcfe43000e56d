// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/row_major_weights.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>

// Prepared weights of GEMMs in tf32, made by the host.

namespace totograph {

namespace detail {

/// Gives a block of bytes to a sink: from the cache where it has them, else as `fill(memory)` makes them, which the
/// cache keeps.
template <class Fill, class Sink>
void write_block(std::size_t bytes, const WeightExpression& expression, PreparedCache& cache, Team& team,
                 const Fill& fill, Sink&& sink) {
    const bool keeps = cache.keeps(expression, bytes);
    if (keeps) {
        if (const auto found = cache.find(expression.text(), bytes, team); found.owner) {
            return write_bytes(found.bytes, team, sink);
        }
    }
    const Arena memory(bytes);
    fill(memory.data());
    if (keeps) {
        cache.keep(expression.text(), {memory.data(), bytes}, team);
    }
    write_bytes({memory.data(), bytes}, team, sink);
}

}  // namespace detail

/// Computes a GEMM's prepared weights in tiles on the evaluator's team. `sink` as `write_row_major` has it; bytes that
/// the cache has are its, and those that it has not go there.
template <class Evaluator, class Sink>
void write_tf32_tiles(GraphView graph, const PreparedWeight& weight, Evaluator& evaluator,
                      const WeightExpression& expression, PreparedCache& cache, Sink&& sink) {
    const std::size_t bytes = tf32_tiles_bytes(graph[weight.node].shape, weight.second_node >= 0);
    Team& team = evaluator.team();
    const auto fill = [&](std::byte* memory) {
        auto* tiles = reinterpret_cast<Tf32Tile*>(memory);
        std::vector<std::vector<float>> buffers(static_cast<std::size_t>(team.threads()));
        for (const int node : {weight.node, weight.second_node}) {
            if (node < 0) {
                continue;
            }
            const auto values = evaluator.ranges(node);
            const Index k = values.shape[-1];
            const Index in_k = Tf32Tile::tiles_of(k);
            const Index bands = values.shape.size() / k / Tf32Tile::columns;
            team.for_each(bands, [&](Index band, int thread) {
                std::vector<float>& buffer = buffers[static_cast<std::size_t>(thread)];
                buffer.resize(static_cast<std::size_t>(Tf32Tile::columns * k));
                const float* const rows = values(band * Tf32Tile::columns * k, Tf32Tile::columns * k, buffer.data());
                for (Index tile = 0; tile < in_k; ++tile) {
                    tiles[band * in_k + tile].store(rows, tile * Tf32Tile::k, k);
                }
            });
            tiles += bands * in_k;
        }
    };
    detail::write_block(bytes, expression, cache, team, fill, sink);
}

/// The same in rows, as `write_row_major<float>` writes them, rounded to tf32.
template <class Evaluator, class Sink>
void write_tf32_rows(GraphView graph, const PreparedWeight& weight, Evaluator& evaluator,
                     const WeightExpression& expression, PreparedCache& cache, Sink&& sink) {
    const std::size_t bytes = row_major_bytes<float>(graph, weight);
    Team& team = evaluator.team();
    const auto fill = [&](std::byte* memory) {
        constexpr Index part = Index{1} << 16U;  // elements that stay in a core's cache
        auto* to = reinterpret_cast<float*>(memory);
        for (const int node : {weight.node, weight.second_node}) {
            if (node < 0) {
                continue;
            }
            const auto values = evaluator.ranges(node);
            const Index size = values.shape.size();
            team.for_each(divide_rounding_up(size, part), [&](Index item, int) {
                const Index first = item * part;
                const Index length = std::min(part, size - first);
                const float* const from = values(first, length, to + first);
                for (Index i = 0; i < length; ++i) {
                    to[first + i] = std::bit_cast<float>(tf32_bits(from[i]));
                }
            });
            to += size;
        }
    };
    detail::write_block(bytes, expression, cache, team, fill, sink);
}

}  // namespace totograph
