// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/team.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/processors.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

namespace totograph {

TOTOGRAPH_INLINE Team::Team(int threads) {
    try {
        pool_ = std::make_unique<cpu::ThreadPool>(std::max(1, threads));
    } catch (const Error&) {  // the system starts no more
        pool_ = std::make_unique<cpu::ThreadPool>(1);
    }
}

TOTOGRAPH_INLINE int Team::threads_for(std::size_t bytes) {
    // Starting a thread takes as long as some hundred kilobytes; what so many cores do is bound by memory.
    constexpr std::size_t bytes_per_thread = std::size_t{1} << 20U;
    constexpr std::size_t most = 16;
    const auto processors = static_cast<std::size_t>(default_threads());
    return static_cast<int>(std::clamp(bytes / bytes_per_thread, std::size_t{1}, std::min(processors, most)));
}

}  // namespace totograph
