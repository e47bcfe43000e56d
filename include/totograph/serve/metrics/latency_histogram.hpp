// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace totograph::serve {

/// The edges that latencies are sorted by, in nanoseconds. Bucket i counts those above `lower_edge(i)` and at most
/// `upper_edge(i)`: each power of two from 512 ns to 2^40 ns (1,100 s) is cut into 16 equal buckets, so that a bucket
/// is at most a sixteenth of its lower edge wide. The first bucket takes all that is shorter, 0 too, the last one all
/// that is longer.
struct LatencyBuckets {
    static constexpr int parts_bits = 4;     ///< 2^4 buckets for each power of two.
    static constexpr int shortest_bits = 9;  ///< The first bucket ends at 2^9 ns.
    static constexpr int longest_bits = 40;  ///< The last one begins at 2^40 ns.
    static constexpr std::size_t parts = std::size_t{1} << parts_bits;
    /// The number of buckets.
    static constexpr std::size_t count = 2 + parts * (longest_bits - shortest_bits);
    /// The upper edge of the last bucket.
    static constexpr std::uint64_t no_edge = std::numeric_limits<std::uint64_t>::max();

    /// The bucket of a latency.
    static constexpr std::size_t index_of(std::uint64_t nanoseconds) noexcept {
        if (nanoseconds <= std::uint64_t{1} << shortest_bits) {
            return 0;
        }
        const std::uint64_t below = nanoseconds - 1;  // an upper edge belongs to the bucket that ends there
        const int bits = static_cast<int>(std::bit_width(below)) - 1;
        if (bits >= longest_bits) {
            return count - 1;
        }
        const auto part = static_cast<std::size_t>(below >> (bits - parts_bits)) - parts;
        return 1 + static_cast<std::size_t>(bits - shortest_bits) * parts + part;
    }

    static constexpr std::uint64_t lower_edge(std::size_t index) noexcept {
        if (index == 0) {
            return 0;
        }
        const std::size_t power = (index - 1) / parts;
        const std::uint64_t part = parts + (index - 1) % parts;
        return part << (power + shortest_bits - parts_bits);
    }

    static constexpr std::uint64_t upper_edge(std::size_t index) noexcept {
        return index + 1 == count ? no_edge : lower_edge(index + 1);
    }
};

/// Latencies in brief, in seconds; all zero when there are none. `min` and `max` are exact. A percentile is that of the
/// nearest rank (the shortest recorded latency that at least so many of a hundred do not exceed), to within half of its
/// bucket: 1/32 of it between 512 ns and 1,100 s, see `LatencyBuckets`.
struct LatencySummary {
    std::uint64_t count = 0;
    double sum_seconds = 0;
    double min = 0;
    double p50 = 0;
    double p90 = 0;
    double p99 = 0;
    double max = 0;
};

/// Latencies as a `LatencyHistogram` counted them until a moment.
struct LatencyCounts {
    /// Of each of the `LatencyBuckets`, or empty when nothing was recorded.
    std::vector<std::uint64_t> buckets;
    std::uint64_t sum_nanoseconds = 0;
    std::uint64_t min_nanoseconds = 0;  ///< 0 when nothing was recorded.
    std::uint64_t max_nanoseconds = 0;

    /// How many latencies were recorded.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_below(buckets.size()); }

    /// How many of them were at most `upper_edge(last)` of `LatencyBuckets`.
    [[nodiscard]] std::uint64_t count_until(std::size_t last) const noexcept {
        return count_below(std::min(last + 1, buckets.size()));
    }

    /// A percentile in seconds, 0 when nothing was recorded; see `LatencySummary`. `share` is within 0 and 1.
    [[nodiscard]] double percentile(double share) const noexcept;

    [[nodiscard]] LatencySummary summary() const noexcept;

    static constexpr double seconds_of(std::uint64_t nanoseconds) noexcept {
        return static_cast<double>(nanoseconds) / 1e9;
    }

    /// Makes the extremes agree with the buckets. Where they do not, they become the edges of the outermost buckets
    /// that count something.
    void fit_extremes() noexcept;

private:
    [[nodiscard]] std::uint64_t count_below(std::size_t end) const noexcept;
};

/// Counts latencies by their length, from any number of threads, without locks or allocations. 4 KiB.
///
/// What is recorded while another thread reads or resets is in one of the two results, whole, but for the sum and the
/// extremes, which may lag by the latencies that are being recorded at that moment.
class LatencyHistogram {
public:
    /// Records one. Less than nothing, which a clock that is set back may measure, counts as nothing.
    void record(std::chrono::nanoseconds latency) noexcept;

    /// What was recorded until now.
    [[nodiscard]] LatencyCounts read() const {
        return collect(*this, [](const std::atomic<std::uint64_t>& value, std::uint64_t) {
            return value.load(std::memory_order_acquire);
        });
    }

    /// Forgets everything, and returns it.
    LatencyCounts reset() {
        return collect(*this, [](std::atomic<std::uint64_t>& value, std::uint64_t nothing) {
            return value.exchange(nothing, std::memory_order_acq_rel);
        });
    }

private:
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "totograph: counters need 64-bit atomics.");
    static constexpr std::uint64_t no_latency = std::numeric_limits<std::uint64_t>::max();

    /// The buckets first: `record` writes them last. What may throw comes before anything is taken away.
    template <class Histogram, class Take>
    static LatencyCounts collect(Histogram& histogram, const Take& take) {
        LatencyCounts counts;
        counts.buckets.resize(LatencyBuckets::count);
        for (std::size_t index = 0; index < LatencyBuckets::count; ++index) {
            counts.buckets[index] = take(histogram.buckets_[index], 0);
        }
        counts.sum_nanoseconds = take(histogram.sum_, 0);
        counts.min_nanoseconds = take(histogram.min_, no_latency);
        counts.max_nanoseconds = take(histogram.max_, 0);
        counts.fit_extremes();
        return counts;
    }

    static void lower(std::atomic<std::uint64_t>& least, std::uint64_t value) noexcept {
        std::uint64_t seen = least.load(std::memory_order_relaxed);
        while (value < seen && !least.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
        }
    }

    static void raise(std::atomic<std::uint64_t>& most, std::uint64_t value) noexcept {
        std::uint64_t seen = most.load(std::memory_order_relaxed);
        while (value > seen && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
        }
    }

    std::array<std::atomic<std::uint64_t>, LatencyBuckets::count> buckets_{};
    std::atomic<std::uint64_t> sum_{0};
    std::atomic<std::uint64_t> min_{no_latency};
    std::atomic<std::uint64_t> max_{0};
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/latency_histogram.hpp>
#endif
