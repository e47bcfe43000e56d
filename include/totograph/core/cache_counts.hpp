// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace totograph {

/// What became of the look-ups in one cache.
struct CacheCounts {
    std::string name;           ///< Of the cache: `tuning`, `weights`.
    std::uint64_t hits = 0;     ///< Found, and used.
    std::uint64_t misses = 0;   ///< Not found, or found and refused: made anew.
    std::uint64_t ignored = 0;  ///< Files that were there and were not used.
    std::string last_reason;    ///< Why the last of these was not; empty when there was none.
};

/// Counts what becomes of the look-ups in one cache. Any number of threads may use it.
class CacheCounter {
public:
    explicit CacheCounter(std::string name) : name_(std::move(name)) {}

    void add_hits(std::uint64_t count = 1) noexcept { hits_.fetch_add(count, std::memory_order_relaxed); }
    void add_misses(std::uint64_t count = 1) noexcept { misses_.fetch_add(count, std::memory_order_relaxed); }
    /// A file was there and not used, for a reason: a sentence.
    void add_ignored(std::string_view reason);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The counts of this moment.
    [[nodiscard]] CacheCounts read() const;

private:
    std::string name_;
    std::atomic<std::uint64_t> hits_{0};
    std::atomic<std::uint64_t> misses_{0};
    mutable std::mutex mutex_;
    std::uint64_t ignored_ = 0;
    std::string last_reason_;
};

/// The counters of several caches, by name. Any number of threads may use it.
class CacheCounters {
public:
    /// The counter of a cache, made at the first call; it stays where it is.
    CacheCounter& of(std::string_view name);

    /// The counts of all caches, in the order in which they were first named.
    [[nodiscard]] std::vector<CacheCounts> read() const;

private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<CacheCounter>> counters_;
};

/// The counters of this process, which its caches report to: `cache_counts().of("tuning").add_hits();`.
inline CacheCounters& cache_counts() {
    static auto* const counters = new CacheCounters;  // never destroyed: others may report after `main`
    return *counters;
}

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/core/impl/cache_counts.hpp>
#endif
