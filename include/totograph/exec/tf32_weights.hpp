// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/row_major_weights.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>

// Prepared weights of GEMMs in tiles of tf32, made by the host.

namespace totograph {

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
    write_with_cache(bytes, expression, cache, team, fill, sink);
}

}  // namespace totograph
