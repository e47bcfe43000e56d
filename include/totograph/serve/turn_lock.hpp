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
    /// Throws `Error` (`invalid_argument`) to the thread whose turn it is, which would wait for itself, and inside of a
    /// log sink, where two services could wait for each other.
    void lock();

    void unlock() noexcept {
        owner_.store(std::thread::id(), std::memory_order_relaxed);
        turn_.fetch_add(1);  // ordered before the look for waiters in the next line
        turn_.notify_all();
    }

    /// How many threads wait for their turn.
    [[nodiscard]] std::uint32_t waiting() const noexcept;

private:
    std::atomic<std::uint32_t> next_{0};
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<std::thread::id> owner_{};
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/turn_lock.hpp>
#endif
