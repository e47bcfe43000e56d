// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/result_pool.hpp>

#include <algorithm>
#include <cstddef>

#include <totograph/core/inline.hpp>
#include <totograph/forecast/results/result_memory.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE void ResultPool::make_room(std::size_t needed) {
    const auto is_enough = [&](const ResultMemory& memory) { return memory.is_alone() && memory.room() >= needed; };
    const auto found = std::find_if(memories_.begin(), memories_.end(), is_enough);
    if (found != memories_.end()) {
        std::rotate(memories_.begin(), found, found + 1);  // the one that is taken next
        return;
    }
    memories_.emplace(memories_.begin(), needed);
    if (memories_.size() > most) {
        memories_.pop_back();
    }
}

TOTOGRAPH_INLINE ResultMemory ResultPool::take() {
    for (const ResultMemory& memory : memories_) {
        if (memory.is_alone()) {
            return memory;
        }
    }
    ResultMemory made(0);
    if (memories_.size() < most) {
        memories_.push_back(made);
    }
    return made;
}

}  // namespace totograph::serve::detail
