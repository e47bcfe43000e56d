// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/cache_counts.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>

namespace totograph {

TOTOGRAPH_INLINE void CacheCounter::add_ignored(std::string_view reason) {
    const std::scoped_lock lock(mutex_);
    last_reason_ = std::string(reason);
    ++ignored_;
}

TOTOGRAPH_INLINE CacheCounts CacheCounter::read() const {
    const std::scoped_lock lock(mutex_);
    return {name_, hits_.load(std::memory_order_relaxed), misses_.load(std::memory_order_relaxed), ignored_,
            last_reason_};
}

TOTOGRAPH_INLINE CacheCounter& CacheCounters::of(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    for (const auto& counter : counters_) {
        if (counter->name() == name) {
            return *counter;
        }
    }
    return *counters_.emplace_back(std::make_unique<CacheCounter>(std::string(name)));
}

TOTOGRAPH_INLINE std::vector<CacheCounts> CacheCounters::read() const {
    const std::scoped_lock lock(mutex_);
    std::vector<CacheCounts> result;
    result.reserve(counters_.size());
    for (const auto& counter : counters_) {
        result.push_back(counter->read());
    }
    return result;
}

}  // namespace totograph
