// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/core/arena.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
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
    launch.barriers.fill(false);
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

/// Elements of a step that the blocks of a launch take in one turn. Over a row, so many threads as a block has
/// otherwise add up, in wide blocks too.
constexpr Index elements_in_turn(const Launch& launch, const Kernel& kernel) {
    const bool is_wide = launch.is_wide && kernel.kind != KernelKind::reduction;
    return launch.blocks * (is_wide ? wide_block_elements : block_elements);
}

/// Whether one block is enough for a segment whose steps are ordered: where its steps take no more turns beyond the
/// first than there are barriers, each of which costs a cluster more.
template <class Program>
constexpr bool fits_one_block(const Launch& launch) {
    Index turns = 0;
    Index barriers = 0;
    for (int i = 0; i < launch.count; ++i) {
        const Kernel& kernel = kernel_of<Program>(launch.first + i);
        turns += std::max<Index>(divide_rounding_up(elements_of(kernel), elements_in_turn(launch, kernel)), 1) - 1;
        barriers += launch.barriers[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    return turns <= barriers;
}

/// Finds which steps of a segment have nothing to do with the others, if there are two sides: of the groups of steps
/// that depend on each other, each goes to the side that has had less to do, the largest first.
template <class Program, class Overlaps>
constexpr void split_segment(Launch& launch, const Overlaps& overlaps) {
    std::array<int, segment_steps> group{};  // the first step of each one's
    std::array<Index, segment_steps> work{};
    for (int i = 0; i < launch.count; ++i) {
        group[static_cast<std::size_t>(i)] = i;
        for (int before = 0; before < i; ++before) {
            const int own = group[static_cast<std::size_t>(i)];
            const int other = group[static_cast<std::size_t>(before)];
            if (own != other && !are_apart<Program>(launch.first + before, launch.first + i, overlaps)) {
                for (int member = 0; member <= i; ++member) {
                    int& joined = group[static_cast<std::size_t>(member)];
                    joined = joined == std::max(own, other) ? std::min(own, other) : joined;
                }
            }
        }
    }
    for (int i = 0; i < launch.count; ++i) {
        const Kernel& kernel = kernel_of<Program>(launch.first + i);
        const Index turns = elements_of(kernel) / elements_in_turn(launch, kernel);
        work[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])] += 1 + turns;
    }
    Index done = 0;
    Index done_aside = 0;
    for (int turn = 0; turn < launch.count; ++turn) {
        const auto largest = std::max_element(work.begin(), work.end());
        if (*largest == 0) {
            break;
        }
        const bool is_aside = done_aside < done;
        (is_aside ? done_aside : done) += *largest;
        *largest = 0;
        for (int i = 0; i < launch.count; ++i) {
            auto& aside = launch.aside[static_cast<std::size_t>(i)];
            aside = group[static_cast<std::size_t>(i)] == largest - work.begin() ? is_aside : aside;
        }
    }
}

/// Between which barriers an intermediate is used, both counted in barriers before them.
struct LevelsOfUse {
    int first = segment_steps;
    int last = -1;
};

/// Those of each buffer, by the steps of a launch whose order is known.
template <class Program, std::size_t buffers>
constexpr std::array<LevelsOfUse, buffers> levels_of_use(const Launch& launch) {
    std::array<LevelsOfUse, buffers> result{};
    int level = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(launch.count); ++i) {
        level += launch.barriers[i] ? 1 : 0;
        const int index = launch.first + launch.order[i];
        const auto use = [&](const Reference& reference) {
            if (reference.space == Space::arena) {
                LevelsOfUse& levels = result[static_cast<std::size_t>(reference.index)];
                levels.first = std::min(levels.first, level);
                levels.last = std::max(levels.last, level);
            }
        };
        use(step_of<Program>(index).output);
        for (int operand = 0; operand < kernel_of<Program>(index).operand_count; ++operand) {
            use(step_of<Program>(index).operands.items[operand]);
        }
    }
    return result;
}

/// Gives intermediates a place in shared memory, where others lie that are used before or behind other barriers. Those
/// without a place of -1 are asked for; those that find no room have one of -1 afterwards, and the result is false.
template <class Program, std::size_t buffers>
constexpr bool place_in_shared(Launch& launch, std::array<int, buffers>& places) {
    const auto levels = levels_of_use<Program, buffers>(launch);
    const auto end_of = [&](std::size_t buffer) {
        return static_cast<std::size_t>(places[buffer]) + aligned_size(buffers_of<Program>[buffer].bytes);
    };
    bool all = true;
    launch.local_bytes = 0;
    for (std::size_t i = 0; i != Program::buffers.size(); ++i) {  // `<` warns of a program without any
        if (places[i] < 0) {
            continue;
        }
        places[i] = 0;
        for (bool moves = true; moves;) {
            moves = false;
            for (std::size_t other = 0; other < i; ++other) {
                const bool at_once = levels[i].first <= levels[other].last && levels[other].first <= levels[i].last;
                if (places[other] >= 0 && at_once && static_cast<std::size_t>(places[i]) < end_of(other) &&
                    static_cast<std::size_t>(places[other]) < end_of(i)) {
                    places[i] = static_cast<int>(end_of(other));
                    moves = true;
                }
            }
        }
        const std::size_t end = end_of(i);
        if (end > (launch.is_wide ? most_wide_local_bytes : most_local_bytes)) {
            places[i] = -1;
            all = false;
        } else {
            launch.local_bytes = std::max(launch.local_bytes, end);
        }
    }
    return all;
}

/// Orders the steps of a segment for one block each side, which has what is written and read within it alone in its
/// shared memory, where no step waits for memory to be free. False where one block is not enough: nothing changes then.
///
/// @param places  of each buffer in shared memory; those of other segments stay
template <class Program, std::size_t buffers>
constexpr bool order_for_one_block(Launch& launch, bool is_wide, std::array<int, buffers>& places) {
    Launch local = launch;
    local.is_wide = is_wide;
    std::array<int, buffers> own{};
    own.fill(-1);
    for (std::size_t i = 0; i != Program::buffers.size(); ++i) {  // `<` warns of a program without any
        const Buffer& buffer = buffers_of<Program>[i];
        const bool stays = buffer.first_step >= launch.first && buffer.last_step < launch.first + launch.count;
        own[i] = stays && buffer.bytes <= (is_wide ? most_wide_local_bytes : most_local_bytes) ? 0 : -1;
    }
    const auto is_local = [&](const Reference& reference) {
        return reference.space == Space::arena && own[static_cast<std::size_t>(reference.index)] >= 0;
    };
    const auto overlaps = [&](const Reference& a, const Reference& b) {
        return is_local(a) || is_local(b) ? a.space == b.space && a.index == b.index : may_overlap<Program>(a, b);
    };
    do {  // what finds no room lies in the arena, where it may wait for others
        order_steps<Program>(local, overlaps);
    } while (!place_in_shared<Program>(local, own));
    if (!fits_one_block<Program>(local)) {
        return false;
    }
    split_segment<Program>(local, overlaps);
    launch = local;
    for (std::size_t i = 0; i < buffers; ++i) {
        places[i] = own[i] >= 0 ? own[i] : places[i];
    }
    return true;
}

/// The elements of the largest step.
template <class Program>
constexpr Index largest_step(const Launch& launch) {
    Index largest = 0;
    for (int i = 0; i < launch.count; ++i) {
        largest = std::max(largest, elements_of(kernel_of<Program>(launch.first + i)));
    }
    return largest;
}

/// Orders the steps of a segment, and finds its two sides: for one block each, where that is enough; else for a wide
/// one, where that is enough; else for clusters.
///
/// @param places  of each buffer in shared memory; those of other segments stay
template <class Program, std::size_t buffers>
constexpr void order_segment(Launch& launch, std::array<int, buffers>& places) {
    if (order_for_one_block<Program>(launch, false, places) || order_for_one_block<Program>(launch, true, places)) {
        return;
    }
    order_steps<Program>(launch, &may_overlap<Program>);
    launch.blocks = cluster_blocks;
    launch.is_wide = largest_step<Program>(launch) >= cluster_blocks * block_elements;
    split_segment<Program>(launch, &may_overlap<Program>);
}

/// Whether blocks of rows are wide: where a row is long, and no multiprocessor would have two of them.
template <class Program>
constexpr bool has_wide_rows(const Launch& launch) {
    Index widest = 0;
    for (int i = 0; i < launch.count; ++i) {
        widest = launch.aside[static_cast<std::size_t>(i)]
                     ? widest
                     : std::max(widest, elements_of(kernel_of<Program>(launch.first + i)) / launch.rows);
    }
    return launch.rows < compiled_for.multiprocessors && widest >= block_elements;
}

/// Whether a segment is for a cluster.
template <class Program>
constexpr bool takes_cluster(Launch launch) {
    std::array<int, Program::buffers.size() == 0 ? 1 : Program::buffers.size()> places{};
    order_segment<Program>(launch, places);
    return launch.blocks > 1;
}

}  // namespace totograph::cuda::lowering_detail
