// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

namespace totograph {

/// Threads that work on one thing for a while, such as preparing weights, and whose functions may throw.
class Team {
public:
    /// A team of one, the caller's thread.
    Team() : Team(1) {}
    /// A team of at least one thread; of fewer than asked for where the system has no more.
    explicit Team(int threads);

    /// As many threads as pay for work that reads or writes so many bytes: one for little work, else one for each
    /// processor.
    static int threads_for(std::size_t bytes);

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

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/team.hpp>
#endif
