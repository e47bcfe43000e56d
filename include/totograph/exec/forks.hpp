// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

// A forked process has a copy of all memory, and of all threads only the one that forked.
namespace totograph::detail {

/// How often the process was forked on its way from the first one that called `count_forks`.
inline std::atomic<std::uint32_t>& forks() noexcept {
    static std::atomic<std::uint32_t> count{0};
    return count;
}

/// Has `forks` count from now on.
void count_forks();

/// Keeps the handle of a thread that is not in this process: it can neither be joined nor destroyed.
void keep_lost_thread(std::thread&& thread);

}  // namespace totograph::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/forks.hpp>
#endif
