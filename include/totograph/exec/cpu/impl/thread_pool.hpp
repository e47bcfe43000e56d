// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/thread_pool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::cpu {

TOTOGRAPH_INLINE ThreadPool::ThreadPool(int threads) {
    if (threads < 1) {
        throw Error(ErrorCode::invalid_argument, "A thread pool needs at least 1 thread, the caller's own; " +
                                                     std::to_string(threads) +
                                                     " were asked for. Pass 1 to run without other threads.");
    }
    workers_.reserve(static_cast<std::size_t>(threads - 1));
    try {
        for (int thread = 1; thread < threads; ++thread) {
            workers_.emplace_back([this, thread] { work(thread); });
        }
    } catch (...) {
        stop();
        throw;
    }
}

TOTOGRAPH_INLINE void ThreadPool::work(int thread) noexcept {
    std::uint32_t finished_round = 0;
    for (;;) {
        wait_until([&] { return round_.load(std::memory_order_acquire) != finished_round; }, round_);
        ++finished_round;
        if (is_stopping_) {
            return;
        }
        run_(context_, thread);
        if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            unfinished_.notify_one();
        }
    }
}

TOTOGRAPH_INLINE void ThreadPool::stop() noexcept {
    is_stopping_ = true;
    announce_round();
    for (std::thread& worker : workers_) {
        worker.join();
    }
}

}  // namespace totograph::cpu
