// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/forks.hpp>

namespace totograph::cpu {

/// Tells the core that this thread waits in a loop, so that it saves power and leaves the loop quickly.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/// A fixed team of threads for fork-join loops that are a few microseconds long.
///
/// The thread that calls `for_each_thread` is thread 0; the pool owns the other `threads - 1`. Between calls these spin
/// for some tens of microseconds before they sleep, so that loops which follow each other closely need no system call.
/// Nothing is allocated and no mutex is taken after construction. A pool of one thread owns no thread at all and calls
/// the function directly. One thread at a time may use a pool, and the functions that it runs may not use it again. A
/// process that was forked from one with a pool has none of the pool's threads: it starts new ones when it first uses
/// the pool.
class ThreadPool {
public:
    /// Starts the team. Throws `Error` (`invalid_argument`) when `threads` is less than 1, and when the system cannot
    /// start that many: those that it did start have ended then.
    explicit ThreadPool(int threads);

    ~ThreadPool() { stop(); }
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// How many threads run a function, the caller included.
    [[nodiscard]] int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

    /// Runs `function(thread)` once on every thread, `thread` being 0 (the caller) to `threads() - 1`, and returns when
    /// all are done; what they wrote is then visible to the caller. The function must not throw.
    template <class Function>
    void for_each_thread(Function&& function) noexcept {
        if (workers_.empty()) {
            function(0);
            return;
        }
        if (forks_ != totograph::detail::forks().load(std::memory_order_relaxed)) {
            start_after_fork();
        }
        using Plain = std::remove_reference_t<Function>;
        run_ = [](const void* context, int thread) { (*static_cast<Plain*>(const_cast<void*>(context)))(thread); };
        context_ = std::addressof(function);
        unfinished_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
        announce_round();
        function(0);
        wait_until([this] { return unfinished_.load(std::memory_order_acquire) == 0; }, unfinished_);
    }

private:
    // A pause takes between 10 and 40 ns, so this is some tens of microseconds.
    static constexpr int pauses_before_yielding = 1500;
    static constexpr int yields_before_sleeping = 8;

    /// Spins, then yields, then sleeps until `is_done`; `watched` is the atomic that its answer depends on.
    template <class Predicate>
    static void wait_until(Predicate is_done, const std::atomic<std::uint32_t>& watched) noexcept {
        for (int attempt = 0; attempt < pauses_before_yielding; ++attempt) {
            if (is_done()) {
                return;
            }
            pause_briefly();
        }
        for (int attempt = 0; attempt < yields_before_sleeping; ++attempt) {
            if (is_done()) {
                return;
            }
            std::this_thread::yield();
        }
        for (;;) {
            const std::uint32_t seen = watched.load(std::memory_order_acquire);
            if (is_done()) {
                return;
            }
            watched.wait(seen, std::memory_order_acquire);
        }
    }

    void announce_round() noexcept {
        round_.fetch_add(1, std::memory_order_release);
        round_.notify_all();
    }

    /// @param round  the last one that was announced before the thread began
    void work(int thread, std::uint32_t round) noexcept;

    void start(int threads);
    void start_after_fork() noexcept;
    void lose_threads() noexcept;  ///< Of another process.
    void stop() noexcept;

    // Each on its own cache line: the workers poll the first while the caller polls the second.
    alignas(64) std::atomic<std::uint32_t> round_{0};
    alignas(64) std::atomic<std::uint32_t> unfinished_{0};
    // Written before a round is announced and read after it was seen, so these need not be atomic.
    alignas(64) void (*run_)(const void*, int) = nullptr;
    const void* context_ = nullptr;
    bool is_stopping_ = false;
    std::uint32_t forks_ = 0;  ///< `detail::forks()` when the threads were started.
    std::vector<std::thread> workers_;
};

/// A pool that is there. Throws `Error` (`invalid_argument`) for a null pointer.
std::shared_ptr<ThreadPool> require_pool(std::shared_ptr<ThreadPool> pool);

/// Hands out the numbers 0 to `count - 1`, each to one claimant, so that a fast thread takes more than a slow one.
class WorkQueue {
public:
    explicit WorkQueue(Index count) noexcept : count_(count) {}

    /// Claims the next number into `item`; false when none is left.
    [[nodiscard]] bool claim(Index& item) noexcept {
        item = next_.fetch_add(1, std::memory_order_relaxed);
        return item < count_;
    }

private:
    alignas(64) std::atomic<Index> next_{0};
    Index count_;
};

/// Runs `function(chunk, thread)` once for each chunk 0 to `chunks - 1`, on all threads of the pool, in no fixed order.
/// One chunk, or a pool of one thread, runs on the caller in order and wakes nobody. The function must not throw.
template <class Function>
void parallel_for(ThreadPool& pool, Index chunks, Function&& function) noexcept {
    if (chunks <= 1 || pool.threads() == 1) {
        for (Index chunk = 0; chunk < chunks; ++chunk) {
            function(chunk, 0);
        }
        return;
    }
    WorkQueue queue(chunks);
    pool.for_each_thread([&](int thread) {
        Index chunk = 0;
        while (queue.claim(chunk)) {
            function(chunk, thread);
        }
    });
}

}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/impl/thread_pool.hpp>
#endif
