// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <totograph/graph/kernel.hpp>

namespace totograph::detail {

/// Gives each intermediate a place in one arena, and returns the bytes of that. First fit in order of need: a buffer
/// lies in the lowest gap among those alive with it.
constexpr std::size_t place_buffers(std::vector<Buffer>& buffers) {
    std::size_t bytes = 0;
    std::vector<int> alive;  // by offset
    for (std::size_t next = 0; next < buffers.size(); ++next) {
        Buffer& buffer = buffers[next];
        std::size_t kept = 0;
        for (const int other : alive) {
            if (buffers[static_cast<std::size_t>(other)].last_step >= buffer.first_step) {
                alive[kept++] = other;
            }
        }
        alive.resize(kept);
        std::size_t offset = 0;
        std::size_t place = 0;
        while (place < alive.size()) {
            const Buffer& other = buffers[static_cast<std::size_t>(alive[place])];
            if (offset + buffer.bytes <= other.offset) {
                break;
            }
            offset = other.offset + other.bytes;
            ++place;
        }
        buffer.offset = offset;
        alive.insert(alive.begin() + static_cast<std::ptrdiff_t>(place), static_cast<int>(next));
        bytes = bytes < offset + buffer.bytes ? offset + buffer.bytes : bytes;
    }
    return bytes;
}

}  // namespace totograph::detail
