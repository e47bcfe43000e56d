// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace totograph::serve::detail {

/// A mutex that lets threads in by the order in which they came. (`std::mutex` lets a thread that just left in again
/// before those that wait, so that one busy thread could keep the others out.) Alone, a thread pays two atomic
/// additions and makes no system call.
class TurnLock {
public:
    TurnLock();

    /// Throws `Error` (`invalid_argument`) to the thread whose turn it is, which would wait for itself; inside of a log
    /// sink, where two services could wait for each other; and in a process that was forked while another thread had
    /// its turn or waited for it, which is not in that process.
    void lock();

    void unlock() noexcept {
        owner_.store(std::thread::id(), std::memory_order_relaxed);
        turn_.fetch_add(1);  // ordered before the look for waiters in the next line
        turn_.notify_all();
    }

    /// How many threads wait for their turn.
    [[nodiscard]] std::uint32_t waiting() const noexcept;

private:
    /// Of a process that was forked since the last turn: throws, or notes that no turn was lost.
    void check_fork();

    std::atomic<std::uint32_t> next_{0};
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<std::thread::id> owner_{};
    std::atomic<std::uint32_t> forks_{0};  ///< Of the process in which no turn was lost.
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/turn_lock.hpp>
#endif
