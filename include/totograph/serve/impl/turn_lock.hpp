// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/turn_lock.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/forks.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE TurnLock::TurnLock() {
    totograph::detail::count_forks();
    forks_ = totograph::detail::forks().load();
}

TOTOGRAPH_INLINE void TurnLock::check_fork() {
    const std::uint32_t forks = totograph::detail::forks().load();
    const bool is_idle = next_.load(std::memory_order_acquire) == turn_.load();
    if (is_idle) {
        forks_ = forks;
    } else if (forks_ != forks) {  // else a thread of this process has come first, and its turn is not lost
        throw Error(
            ErrorCode::invalid_argument,
            "A ForecastService was called in a process that was forked while another thread used it. That thread "
            "is not in this process, so its call would never end. Make a service with weights of its own in this "
            "process, or fork while no thread uses one.");
    }
}

TOTOGRAPH_INLINE void TurnLock::lock() {
    if (totograph::detail::is_writing_log()) {
        throw Error(ErrorCode::invalid_argument,
                    "A ForecastService was called by a log sink. Services log while they serve a call, and one line is "
                    "written at a time, so two of them could wait for each other for ever. Keep the line, and call the "
                    "service from another thread.");
    }
    if (forks_.load(std::memory_order_relaxed) != totograph::detail::forks().load(std::memory_order_relaxed)) {
        check_fork();
    }
    const std::thread::id caller = std::this_thread::get_id();
    // No order is needed: what a thread wrote itself it sees, and no other writes this thread's id.
    if (owner_.load(std::memory_order_relaxed) == caller) {
        throw Error(ErrorCode::invalid_argument,
                    "A ForecastService was called by a backend that it was running; it serves one call at a time, so "
                    "this one would wait for ever. Call it when its forecast is over, or call another service.");
    }
    // Released after `forks_` was set: who sees this turn sees that.
    const std::uint32_t mine = next_.fetch_add(1, std::memory_order_release);
    std::uint32_t now = turn_.load(std::memory_order_acquire);
    while (now != mine) {
        turn_.wait(now, std::memory_order_acquire);
        now = turn_.load(std::memory_order_acquire);
    }
    owner_.store(caller, std::memory_order_relaxed);
}

TOTOGRAPH_INLINE std::uint32_t TurnLock::waiting() const noexcept {
    // First, and with an order: a turn that is seen is of a thread whose coming is seen, too.
    const std::uint32_t turn = turn_.load(std::memory_order_acquire);
    const std::uint32_t taken = next_.load(std::memory_order_relaxed) - turn;
    return taken > 0 ? taken - 1 : 0;
}

}  // namespace totograph::serve::detail
