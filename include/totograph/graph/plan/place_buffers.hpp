// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::detail {

/// First fit in order of need: a buffer lies in the lowest gap among those alive with it. Returns the bytes of all.
///
/// @param end_of  the last step at which the memory of a buffer must not be given to another one
template <class EndOf>
constexpr std::size_t place_in_gaps(List<Buffer>& buffers, const EndOf& end_of) {
    std::size_t bytes = 0;
    List<int> alive;  // by offset
    Buffer* const all = buffers.data();
    for (int next = 0, count = static_cast<int>(buffers.size()); next < count; ++next) {
        Buffer& buffer = all[next];
        std::size_t kept = 0;
        int* const places = alive.data();
        for (const int other : alive) {
            if (end_of(all[other]) >= buffer.first_step) {
                places[kept++] = other;
            }
        }
        alive.resize(kept);
        std::size_t offset = 0;
        std::size_t place = 0;
        while (place < kept) {
            const Buffer& other = all[places[place]];
            if (offset + buffer.bytes <= other.offset) {
                break;
            }
            offset = other.offset + other.bytes;
            ++place;
        }
        buffer.offset = offset;
        alive.insert(alive.begin() + static_cast<std::ptrdiff_t>(place), next);
        bytes = std::max(bytes, offset + buffer.bytes);
    }
    return bytes;
}

/// The same, but those that `goes_first` names are placed before all others: buffers that live long then lie together,
/// and not above what was alive when they were made, where they would leave gaps for the rest of their lives.
template <class EndOf, class GoesFirst>
constexpr std::size_t place_some_first(List<Buffer>& buffers, const EndOf& end_of, const GoesFirst& goes_first) {
    std::size_t bytes = 0;
    List<int> placed;  // by offset
    for (const bool is_first : {true, false}) {
        for (std::size_t next = 0; next < buffers.size(); ++next) {
            Buffer& buffer = buffers[next];
            if (goes_first(buffer) != is_first) {
                continue;
            }
            std::size_t offset = 0;
            for (const int other : placed) {
                const Buffer& there = buffers[static_cast<std::size_t>(other)];
                const bool are_alive = there.first_step <= end_of(buffer) && buffer.first_step <= end_of(there);
                if (are_alive && offset + buffer.bytes <= there.offset) {
                    break;
                }
                offset = are_alive ? std::max(offset, there.offset + there.bytes) : offset;
            }
            buffer.offset = offset;
            std::size_t place = 0;
            while (place < placed.size() && buffers[static_cast<std::size_t>(placed[place])].offset <= offset) {
                ++place;
            }
            placed.insert(placed.begin() + static_cast<std::ptrdiff_t>(place), static_cast<int>(next));
            bytes = std::max(bytes, offset + buffer.bytes);
        }
    }
    return bytes;
}

/// Gives each intermediate a place in one arena, and returns the bytes of that. Between two steps that stand alone no
/// memory is used twice, unless the arena would grow by more than an eighth: such steps can then be launched as one, in
/// which nobody waits for memory to be free. So can a GEMM and the norm of what it makes: what is read by the
/// GEMM for the last time does not give its memory to a reduction right after it. Of full-size models the arena of a
/// prefill grows by 64 bytes, that of a decode step with samples shrinks by an eighth (first fit is not the best fit);
/// where statistics of the context are most of the memory, as in a small model with many samples, it would grow by
/// more.
constexpr std::size_t place_buffers(List<Buffer>& buffers, const List<Step>& steps, const List<Kernel>& kernels) {
    const auto last_step = [](const Buffer& buffer) { return buffer.last_step; };
    List<int> together(steps.size() + 1, static_cast<int>(steps.size()));  // the last step that may join each
    const auto kernel_of = [&](std::size_t step) -> const Kernel& {
        return kernels[static_cast<std::size_t>(steps[step].kernel)];
    };
    for (std::size_t step = steps.size(); step-- > 0;) {
        const bool is_last = step + 1 == steps.size();
        const bool ends = is_last || stands_alone(kernel_of(step)) || stands_alone(kernel_of(step + 1));
        const bool takes_reduction =
            !is_last && kernel_of(step).kind == KernelKind::gemm && kernel_of(step + 1).kind == KernelKind::reduction;
        together[step] = takes_reduction ? static_cast<int>(step + 1)
                         : ends          ? static_cast<int>(step)
                                         : together[step + 1];
    }
    const std::size_t least = place_in_gaps(buffers, last_step);
    const std::size_t most = least + least / 8;
    const auto end_of = [&](const Buffer& buffer) { return together[static_cast<std::size_t>(buffer.last_step)]; };
    List<Buffer> apart = buffers;
    std::size_t bytes = place_in_gaps(apart, end_of);
    if (bytes > most) {
        bytes = place_some_first(apart, end_of, [&](const Buffer& buffer) {
            return together[static_cast<std::size_t>(buffer.first_step)] < buffer.last_step;
        });
    }
    if (bytes > most) {
        return least;
    }
    buffers = apart;
    return bytes;
}

}  // namespace totograph::detail
