// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/thread_pool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/forks.hpp>

namespace totograph::cpu {

TOTOGRAPH_INLINE ThreadPool::ThreadPool(int threads) {
    if (threads < 1) {
        throw Error(ErrorCode::invalid_argument, "A thread pool needs at least 1 thread, the caller's own; " +
                                                     std::to_string(threads) +
                                                     " were asked for. Pass 1 to run without other threads.");
    }
    totograph::detail::count_forks();
    start(threads);
}

TOTOGRAPH_INLINE void ThreadPool::start(int threads) {
    forks_ = totograph::detail::forks().load();
    const std::uint32_t round = round_.load();
    try {
        workers_.reserve(static_cast<std::size_t>(threads - 1));
        for (int thread = 1; thread < threads; ++thread) {
            workers_.emplace_back([this, thread, round] { work(thread, round); });
        }
    } catch (const std::system_error& error) {
        const std::size_t started = workers_.size();
        stop();
        throw Error(ErrorCode::invalid_argument,
                    "A thread pool of " + std::to_string(threads) + " threads cannot be started: behind " +
                        std::to_string(started + 1) + ", the caller's own among them, the system said '" +
                        error.what() + "'. Pass fewer threads.");
    } catch (...) {
        stop();
        throw;
    }
}

TOTOGRAPH_INLINE void ThreadPool::lose_threads() noexcept {
    for (std::thread& worker : workers_) {
        totograph::detail::keep_lost_thread(std::move(worker));
    }
    workers_.clear();
}

TOTOGRAPH_INLINE void ThreadPool::start_after_fork() noexcept {
    const int count = threads();
    lose_threads();
    start(count);
}

TOTOGRAPH_INLINE void ThreadPool::work(int thread, std::uint32_t round) noexcept {
    for (;;) {
        wait_until([&] { return round_.load(std::memory_order_acquire) != round; }, round_);
        ++round;
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
    if (forks_ != totograph::detail::forks().load()) {
        lose_threads();
        return;
    }
    is_stopping_ = true;
    announce_round();
    for (std::thread& worker : workers_) {
        worker.join();
    }
}

TOTOGRAPH_INLINE std::shared_ptr<ThreadPool> require_pool(std::shared_ptr<ThreadPool> pool) {
    if (!pool) {
        throw Error(ErrorCode::invalid_argument,
                    "An executor was given no thread pool, but a null pointer. Pass one, such as "
                    "std::make_shared<cpu::ThreadPool>(1).");
    }
    return pool;
}

}  // namespace totograph::cpu
