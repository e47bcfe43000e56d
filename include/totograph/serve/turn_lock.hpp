// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace totograph::serve::detail {

/// A mutex that lets threads in by the order in which they came. (`std::mutex` lets a thread that just left in again
/// before those that wait, so that one busy thread could keep the others out.) Alone, a thread pays two atomic
/// additions and makes no system call.
class TurnLock {
public:
    void lock() noexcept {
        const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
        std::uint32_t now = turn_.load(std::memory_order_acquire);
        while (now != mine) {
            turn_.wait(now, std::memory_order_acquire);
            now = turn_.load(std::memory_order_acquire);
        }
    }

    void unlock() noexcept {
        turn_.fetch_add(1);  // ordered before the look for waiters in the next line
        turn_.notify_all();
    }

    /// How many threads wait for their turn.
    [[nodiscard]] std::uint32_t waiting() const noexcept {
        // First, and with an order: a turn that is seen is of a thread whose coming is seen, too.
        const std::uint32_t turn = turn_.load(std::memory_order_acquire);
        const std::uint32_t taken = next_.load(std::memory_order_relaxed) - turn;
        return taken > 0 ? taken - 1 : 0;
    }

private:
    std::atomic<std::uint32_t> next_{0};
    std::atomic<std::uint32_t> turn_{0};
};

}  // namespace totograph::serve::detail
