// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <totograph/core/error.hpp>

namespace totograph::serve::detail {

/// A mutex that lets threads in by the order in which they came. (`std::mutex` lets a thread that just left in again
/// before those that wait, so that one busy thread could keep the others out.) Alone, a thread pays two atomic
/// additions and makes no system call.
class TurnLock {
public:
    /// Throws `Error` (`invalid_argument`) to the thread whose turn it is: it would wait for itself.
    void lock() {
        const std::thread::id caller = std::this_thread::get_id();
        // No order is needed: what a thread wrote itself it sees, and no other writes this thread's id.
        if (owner_.load(std::memory_order_relaxed) == caller) {
            throw Error(ErrorCode::invalid_argument,
                        "A ForecastService was called by what it was running itself, a backend or a log sink; it "
                        "serves one call at a time, so this one would wait for ever. Call it when its forecast is "
                        "over, or call another service.");
        }
        const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
        std::uint32_t now = turn_.load(std::memory_order_acquire);
        while (now != mine) {
            turn_.wait(now, std::memory_order_acquire);
            now = turn_.load(std::memory_order_acquire);
        }
        owner_.store(caller, std::memory_order_relaxed);
    }

    void unlock() noexcept {
        owner_.store(std::thread::id(), std::memory_order_relaxed);
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
    std::atomic<std::thread::id> owner_{};
};

}  // namespace totograph::serve::detail
