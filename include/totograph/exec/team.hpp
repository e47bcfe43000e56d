// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <system_error>

#include <totograph/core/processors.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

namespace totograph {

/// Threads that work on one thing for a while, such as preparing weights, and whose functions may throw.
class Team {
public:
    /// A team of one, the caller's thread.
    Team() : Team(1) {}
    /// A team of at least one thread; of fewer than asked for where the system has no more.
    explicit Team(int threads) {
        try {
            pool_ = std::make_unique<cpu::ThreadPool>(std::max(1, threads));
        } catch (const std::system_error&) {
            pool_ = std::make_unique<cpu::ThreadPool>(1);
        }
    }

    /// As many threads as pay for work that reads or writes so many bytes: one for little work, else one for each
    /// processor.
    static int threads_for(std::size_t bytes) {
        // Starting a thread takes as long as some hundred kilobytes; what so many cores do is bound by memory.
        constexpr std::size_t bytes_per_thread = std::size_t{1} << 20U;
        constexpr std::size_t most = 16;
        const auto processors = static_cast<std::size_t>(default_threads());
        return static_cast<int>(std::clamp(bytes / bytes_per_thread, std::size_t{1}, std::min(processors, most)));
    }

    [[nodiscard]] int threads() const noexcept { return pool_->threads(); }

    /// Runs `function(item, thread)` once for each item from 0 to `items - 1`, in no fixed order. When one throws, what
    /// has not begun is left out, and the first exception comes out here.
    template <class Function>
    void for_each(Index items, Function&& function) {
        std::atomic<bool> has_failed{false};
        std::exception_ptr failure;
        cpu::parallel_for(*pool_, items, [&](Index item, int thread) noexcept {
            if (has_failed.load(std::memory_order_relaxed)) {
                return;
            }
            try {
                function(item, thread);
            } catch (...) {
                if (!has_failed.exchange(true)) {
                    failure = std::current_exception();
                }
            }
        });
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

private:
    std::unique_ptr<cpu::ThreadPool> pool_;
};

}  // namespace totograph
