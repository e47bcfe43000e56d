// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/core/arena.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>

// In which order the steps of one kernel run, where it has barriers, and what its block keeps to itself.

namespace totograph::cuda::lowering_detail {

/// Orders steps that run in one kernel by how many others they must wait for one after the other, with a barrier where
/// the number changes: so there are no more barriers than the longest chain of steps has links. Other launches keep
/// theirs. `overlaps(a, b)` tells whether two references can name the same memory.
template <class Program, class Overlaps>
constexpr void order_steps(Launch& launch, const Overlaps& overlaps) {
    std::array<int, segment_steps> depth{};
    int deepest = 0;
    for (int i = 0; i < launch.count && launch.is_sequence(); ++i) {
        for (int before = 0; before < i; ++before) {
            if (!are_apart<Program>(launch.first + before, launch.first + i, overlaps)) {
                depth[static_cast<std::size_t>(i)] =
                    std::max(depth[static_cast<std::size_t>(i)], depth[static_cast<std::size_t>(before)] + 1);
            }
        }
        deepest = std::max(deepest, depth[static_cast<std::size_t>(i)]);
    }
    std::size_t next = 0;
    for (int level = 0; level <= deepest; ++level) {
        launch.barriers[next] = level > 0;
        for (int i = 0; i < launch.count; ++i) {
            if (depth[static_cast<std::size_t>(i)] == level) {
                launch.order[next++] = i;
            }
        }
    }
}

/// Whether one block is enough for a segment whose steps are ordered: where its steps take no more turns beyond the
/// first than there are barriers, each of which costs a cluster more.
template <class Program>
constexpr bool fits_one_block(const Launch& launch) {
    Index turns = 0;
    Index barriers = 0;
    for (int i = 0; i < launch.count; ++i) {
        const Index size = kernel_of<Program>(launch.first + i).iteration.size();
        turns += std::max<Index>(divide_rounding_up(size, block_elements), 1) - 1;
        barriers += launch.barriers[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    return turns <= barriers;
}

/// Orders the steps of a segment for one block, which has what is written and read within it alone in its shared
/// memory, each at a place of its own, so that no step waits for memory to be free; for a cluster where that is better.
///
/// @param places  of each buffer in shared memory; those of other segments stay
template <class Program, std::size_t buffers>
constexpr void order_segment(Launch& launch, std::array<int, buffers>& places) {
    Launch local = launch;
    std::array<int, buffers> own{};
    own.fill(-1);
    for (std::size_t i = 0; i < Program::buffers.size(); ++i) {
        const Buffer& buffer = Program::buffers[i];
        const std::size_t bytes = aligned_size(buffer.bytes);
        if (buffer.first_step >= launch.first && buffer.last_step < launch.first + launch.count &&
            local.local_bytes + bytes <= most_local_bytes) {
            own[i] = static_cast<int>(local.local_bytes);
            local.local_bytes += bytes;
        }
    }
    const auto is_local = [&](const Reference& reference) {
        return reference.space == Space::arena && own[static_cast<std::size_t>(reference.index)] >= 0;
    };
    order_steps<Program>(local, [&](const Reference& a, const Reference& b) {
        return is_local(a) || is_local(b) ? a.space == b.space && a.index == b.index : may_overlap<Program>(a, b);
    });
    if (!fits_one_block<Program>(local)) {
        order_steps<Program>(launch, &may_overlap<Program>);
        launch.blocks = cluster_blocks;
        return;
    }
    launch = local;
    for (std::size_t i = 0; i < buffers; ++i) {
        places[i] = own[i] >= 0 ? own[i] : places[i];
    }
}

/// Whether a segment is for a cluster.
template <class Program>
constexpr bool takes_cluster(Launch launch) {
    std::array<int, Program::buffers.size() == 0 ? 1 : Program::buffers.size()> places{};
    order_segment<Program>(launch, places);
    return launch.blocks > 1;
}

}  // namespace totograph::cuda::lowering_detail
