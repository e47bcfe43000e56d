// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/store_elements.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weight_evaluator.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>

// Prepared weights as devices read them, made by the host in pieces.

namespace totograph {

/// Bytes of a prepared weight: `Storage` elements of a GEMM's weights, a pair one after the other; else of the
/// node's dtype.
template <class Storage>
std::size_t row_major_bytes(GraphView graph, const PreparedWeight& weight) {
    const Node& node = graph[weight.node];
    const auto size = static_cast<std::size_t>(node.shape.size());
    return !weight.packed            ? size * size_in_bytes(node.dtype)
           : weight.second_node >= 0 ? 2 * size * sizeof(Storage)
                                     : size * sizeof(Storage);
}

/// Gives bytes that lie in memory to a sink; see `write_row_major`.
template <class Sink>
void write_bytes(std::span<const std::byte> bytes, Team& team, Sink&& sink) {
    constexpr std::size_t part = std::size_t{1} << 18U;
    while (!bytes.empty()) {
        const std::span<std::byte> room = sink.room(bytes.size());
        team.for_each(static_cast<Index>((room.size() + part - 1) / part), [&](Index item, int) {
            const std::size_t first = static_cast<std::size_t>(item) * part;
            std::memcpy(room.data() + first, bytes.data() + first, std::min(part, room.size() - first));
        });
        sink.add(room.size());
        bytes = bytes.subspan(room.size());
    }
}

/// Computes a prepared weight, all its `row_major_bytes` in order, on the evaluator's team.
///
/// A sink has `room(bytes)`, memory for the next bytes: not more than asked for, at least one, and a multiple of
/// `sizeof(Storage)`; and `add(bytes)`, which takes as many as are there now: all of the room.
template <class Storage, class Evaluator, class Sink>
void write_row_major(GraphView graph, const PreparedWeight& weight, Evaluator& evaluator, Sink&& sink) {
    if (!weight.packed) {
        const auto* data = static_cast<const std::byte*>(evaluator(weight.node).data);
        return write_bytes({data, row_major_bytes<Storage>(graph, weight)}, evaluator.team(), sink);
    }
    constexpr Index part = Index{1} << 16U;  // elements that stay in a core's cache
    std::vector<Arena> buffers(static_cast<std::size_t>(evaluator.team().threads()));
    for (const int node : {weight.node, weight.second_node}) {
        if (node < 0) {
            continue;
        }
        const auto values = evaluator.ranges(node);
        const Index size = values.shape.size();
        for (Index done = 0; done < size;) {
            const std::span<std::byte> room = sink.room(static_cast<std::size_t>(size - done) * sizeof(Storage));
            const auto count = static_cast<Index>(room.size() / sizeof(Storage));
            auto* const to = reinterpret_cast<Storage*>(room.data());
            evaluator.team().for_each(divide_rounding_up(count, part), [&](Index item, int thread) {
                Arena& buffer = buffers[static_cast<std::size_t>(thread)];
                if (buffer.data() == nullptr) {
                    buffer = Arena(static_cast<std::size_t>(std::min(part, size)) * sizeof(float));
                }
                const Index first = item * part;
                const Index length = std::min(part, count - first);
                store_elements(values(done + first, length, reinterpret_cast<float*>(buffer.data())),
                               std::span<Storage>(to + first, static_cast<std::size_t>(length)));
            });
            sink.add(room.size());
            done += count;
        }
    }
}

/// Gives a block of bytes to a sink: from the cache where it has them, else as `fill(memory)` makes them, which the
/// cache keeps.
template <class Fill, class Sink>
void write_with_cache(std::size_t bytes, const WeightExpression& expression, PreparedCache& cache, Team& team,
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

/// The same as `write_row_major`, with the bytes of a GEMM's weights from the cache where it has them, and into it
/// where it has not.
template <class Storage, class Evaluator, class Sink>
void write_row_major(GraphView graph, const PreparedWeight& weight, Evaluator& evaluator,
                     const WeightExpression& expression, PreparedCache& cache, Sink&& sink) {
    const std::size_t bytes = row_major_bytes<Storage>(graph, weight);
    if (!weight.packed || !cache.keeps(expression, bytes)) {
        return write_row_major<Storage>(graph, weight, evaluator, sink);
    }
    struct MemorySink {
        std::byte* next;
        std::span<std::byte> room(std::size_t wanted) const { return {next, wanted}; }
        void add(std::size_t count) { next += count; }
    };
    const auto fill = [&](std::byte* memory) {
        write_row_major<Storage>(graph, weight, evaluator, MemorySink{memory});
    };
    write_with_cache(bytes, expression, cache, evaluator.team(), fill, sink);
}

}  // namespace totograph
