// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/log.hpp>
#include <totograph/serve/metrics/latency_histogram.hpp>
#include <totograph/serve/metrics/metrics.hpp>

#include "support/count_allocations.hpp"

namespace tg = totograph;
using namespace totograph::serve;
using std::chrono::nanoseconds;
using Nanoseconds = std::uint64_t;

namespace {

constexpr tg::Bucket small{.variates = 1, .context = 512, .horizon = 64};
constexpr tg::Bucket large{.variates = 7, .context = 4096, .horizon = 336, .samples = 256};
constexpr int thread_count = 4;

nanoseconds duration(Nanoseconds value) {
    return nanoseconds(static_cast<std::int64_t>(value));
}

/// Runs `action(thread)` on several threads at the same time, and `meanwhile` on this one again and again.
template <class Action, class Meanwhile>
void on_threads(const Action& action, const Meanwhile& meanwhile) {
    std::atomic<int> running{thread_count};
    std::vector<std::thread> threads;
    threads.reserve(thread_count);
    for (int thread = 0; thread < thread_count; ++thread) {
        threads.emplace_back([&, thread] {
            action(thread);
            --running;
        });
    }
    while (running > 0) {
        meanwhile();
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// The nearest rank: the least value that at least this share of all values does not exceed.
double exact_percentile(const std::vector<Nanoseconds>& sorted, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return static_cast<double>(sorted.at(std::max<std::size_t>(rank, 1) - 1)) / 1e9;
}

const Snapshot::Entry& entry_of(const Snapshot& snapshot, const tg::Bucket& bucket, Mode mode) {
    for (const Snapshot::Entry& entry : snapshot.entries) {
        if (entry.bucket == bucket && entry.mode == mode) {
            return entry;
        }
    }
    throw std::logic_error("no such entry");
}

const tg::CacheCounts& cache_of(const Snapshot& snapshot, const std::string& name) {
    for (const tg::CacheCounts& cache : snapshot.caches) {
        if (cache.name == name) {
            return cache;
        }
    }
    throw std::logic_error("no such cache");
}

}  // namespace

TEST_CASE("buckets of latencies follow each other, none wider than a sixteenth of its lower edge") {
    CHECK(LatencyBuckets::lower_edge(0) == 0);
    CHECK(LatencyBuckets::upper_edge(0) == 512);
    CHECK(LatencyBuckets::upper_edge(LatencyBuckets::count - 2) == Nanoseconds{1} << 40U);
    CHECK(LatencyBuckets::upper_edge(LatencyBuckets::count - 1) == LatencyBuckets::no_edge);
    bool all_narrow = true;
    bool all_found = true;
    for (std::size_t i = 1; i + 1 < LatencyBuckets::count; ++i) {
        const Nanoseconds lower = LatencyBuckets::lower_edge(i);
        const Nanoseconds upper = LatencyBuckets::upper_edge(i);
        all_narrow = all_narrow && lower < upper && (upper - lower) * 16 <= lower;
        all_found = all_found && LatencyBuckets::index_of(lower) == i - 1 && LatencyBuckets::index_of(lower + 1) == i &&
                    LatencyBuckets::index_of(upper) == i;
    }
    CHECK(all_narrow);
    CHECK(all_found);
    CHECK(LatencyBuckets::index_of(0) == 0);
    CHECK(LatencyBuckets::index_of((Nanoseconds{1} << 40U) + 1) == LatencyBuckets::count - 1);
    CHECK(LatencyBuckets::index_of(LatencyBuckets::no_edge) == LatencyBuckets::count - 1);
}

TEST_CASE("percentiles are within half a bucket of the exact ones") {
    std::mt19937_64 generator(5);
    // Of all magnitudes; around one, with a long tail; few.
    std::uniform_real_distribution<double> any(std::log(513.0), std::log(1e12));
    std::lognormal_distribution<double> usual(std::log(3e6), 0.4);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        const std::size_t count = round % 3 == 2 ? 1 + static_cast<std::size_t>(round) / 3 : 3000;
        std::vector<Nanoseconds> values(count);
        LatencyHistogram histogram;
        for (Nanoseconds& value : values) {
            value = static_cast<Nanoseconds>(round % 3 == 1 ? usual(generator) : std::exp(any(generator)));
            histogram.record(duration(value));
        }
        std::sort(values.begin(), values.end());
        const LatencyCounts counts = histogram.read();
        for (const double share : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
            CAPTURE(share);
            const double exact = exact_percentile(values, share);
            CHECK(std::abs(counts.percentile(share) - exact) <= exact / 32);
        }
        const LatencySummary summary = counts.summary();
        CHECK(summary.count == count);
        CHECK(summary.min == static_cast<double>(values.front()) / 1e9);
        CHECK(summary.max == static_cast<double>(values.back()) / 1e9);
        CHECK(summary.p50 == counts.percentile(0.5));
        CHECK(summary.p90 == counts.percentile(0.9));
        CHECK(summary.p99 == counts.percentile(0.99));
        Nanoseconds sum = 0;
        for (const Nanoseconds value : values) {
            sum += value;
        }
        CHECK(summary.sum_seconds == static_cast<double>(sum) / 1e9);
    }
}

TEST_CASE("latencies of nothing and beyond all buckets are counted at the ends") {
    LatencyHistogram histogram;
    histogram.record(nanoseconds(0));
    histogram.record(nanoseconds(-20));
    LatencyCounts counts = histogram.read();
    CHECK(counts.buckets.front() == 2);
    CHECK(counts.summary().max == 0);
    CHECK(counts.percentile(0.5) == 0);
    histogram.record(std::chrono::hours(2));
    histogram.record(std::chrono::hours(3));
    counts = histogram.read();
    CHECK(counts.buckets.back() == 2);
    CHECK(counts.count() == 4);
    CHECK(counts.min_nanoseconds == 0);
    CHECK(counts.summary().max == 3 * 3600);
    CHECK(counts.percentile(0.99) == 3 * 3600);
    CHECK(counts.count_until(0) == 2);
    CHECK(counts.count_until(LatencyBuckets::count - 2) == 2);
    CHECK(counts.count_until(LatencyBuckets::count - 1) == 4);
}

TEST_CASE("a histogram without latencies is all zero") {
    LatencyHistogram histogram;
    for (const bool is_reset : {false, true}) {
        CAPTURE(is_reset);
        const LatencyCounts counts = histogram.read();
        CHECK(counts.buckets.empty());
        const LatencySummary summary = counts.summary();
        CHECK(summary.count == 0);
        CHECK(summary.sum_seconds == 0);
        CHECK(summary.min == 0);
        CHECK(summary.p50 == 0);
        CHECK(summary.p99 == 0);
        CHECK(summary.max == 0);
        histogram.record(nanoseconds(5000));
        CHECK(histogram.reset().count() == 1);
    }
}

TEST_CASE("extremes are those since the reset") {
    LatencyHistogram histogram;
    histogram.record(nanoseconds(1000));
    histogram.record(nanoseconds(900'000'000));
    histogram.reset();
    histogram.record(nanoseconds(70'001));
    histogram.record(nanoseconds(80'003));
    CHECK(histogram.read().min_nanoseconds == 70'001);
    CHECK(histogram.read().max_nanoseconds == 80'003);
}

TEST_CASE("extremes that disagree with the buckets become edges") {
    LatencyCounts counts;
    counts.buckets.resize(LatencyBuckets::count);
    const std::size_t low = LatencyBuckets::index_of(10'000);
    const std::size_t high = LatencyBuckets::index_of(50'000);
    counts.buckets[low] = 1;
    counts.buckets[high] = 1;
    counts.min_nanoseconds = 10'000;
    counts.max_nanoseconds = 3'000'000;
    counts.fit_extremes();
    CHECK(counts.min_nanoseconds == 10'000);
    CHECK(counts.max_nanoseconds == LatencyBuckets::upper_edge(high));
    counts.buckets[high] = 0;
    counts.min_nanoseconds = 10'001;  // both of the only bucket, but in the wrong order
    counts.max_nanoseconds = 10'000;
    counts.fit_extremes();
    CHECK(counts.min_nanoseconds == LatencyBuckets::lower_edge(low));
    CHECK(counts.max_nanoseconds == LatencyBuckets::upper_edge(low));
    counts.buckets.back() = 1;
    counts.fit_extremes();
    CHECK(counts.max_nanoseconds == Nanoseconds{1} << 40U);
}

TEST_CASE("counters count each kind of event") {
    Metrics metrics;
    ForecastCounters& counters = metrics.counters("cpu", large, Mode::max_autotune);
    counters.add_build(0.25, 3);
    counters.add_build(0.5, 1);
    counters.add_recapture(RecaptureReason::released);
    counters.add_recapture(RecaptureReason::mode_changed);
    counters.add_recapture(RecaptureReason::released);
    counters.add_bytes_held(1000);
    counters.add_bytes_held(500);
    counters.subtract_bytes_held(1000);
    counters.add_forecast(std::chrono::milliseconds(4), 6);
    counters.add_forecast(std::chrono::milliseconds(2), 0, false);
    counters.add_failure();
    counters.add_eager_fallback();
    const auto check = [](const Snapshot& snapshot) {
        REQUIRE(snapshot.entries.size() == 1);
        const Snapshot::Entry& entry = snapshot.entries[0];
        CHECK(entry.backend == "cpu");
        CHECK(entry.bucket == large);
        CHECK(entry.mode == Mode::max_autotune);
        CHECK(entry.builds == 2);
        CHECK(entry.captures == 4);
        CHECK(entry.build_seconds == doctest::Approx(0.75));
        CHECK(entry.recaptures == std::array<std::uint64_t, 3>{0, 2, 1});
        CHECK(entry.all_recaptures() == 3);
        CHECK(entry.bytes_held == 500);
        CHECK(entry.forecasts == 2);
        CHECK(entry.not_finite == 1);
        CHECK(entry.replays == 6);
        CHECK(entry.failures == 1);
        CHECK(entry.eager_fallbacks == 1);
        CHECK(entry.latency().count == 2);
        CHECK(entry.latency().sum_seconds == 0.006);
        CHECK(entry.latency().max == 0.004);
        CHECK(Snapshot::Entry::graph_breaks == 0);
    };
    check(metrics.snapshot());
    check(metrics.reset());
    const Snapshot::Entry after = metrics.snapshot().entries.at(0);
    CHECK(after.builds + after.captures + after.all_recaptures() + after.forecasts + after.replays + after.failures +
              after.not_finite + after.eager_fallbacks + after.latency().count ==
          0);
    CHECK(after.build_seconds == 0);
    CHECK(after.latency().sum_seconds == 0);
    CHECK(after.bytes_held == 500);
}

TEST_CASE("requests without a bucket are counted by themselves") {
    Metrics metrics;
    metrics.add_request_without_bucket();
    const Snapshot earlier = metrics.snapshot();
    CHECK(earlier.requests_without_bucket == 1);
    CHECK(earlier.entries.empty());
    metrics.add_request_without_bucket();
    metrics.add_request_without_bucket();
    CHECK(difference(metrics.snapshot(), earlier).requests_without_bucket == 2);
    CHECK(metrics.reset().requests_without_bucket == 3);
    CHECK(metrics.snapshot().requests_without_bucket == 0);
}

TEST_CASE("an entry is in use once something was built for it") {
    Metrics metrics;
    ForecastCounters& counters = metrics.counters("cpu", small, Mode::standard);
    counters.add_failure();
    counters.add_recapture(RecaptureReason::released);
    CHECK_FALSE(metrics.snapshot().entries.at(0).is_in_use());
    counters.add_build(0, 0);
    CHECK(metrics.snapshot().entries.at(0).is_in_use());
    counters.add_bytes_held(1);
    metrics.reset();
    CHECK(metrics.snapshot().entries.at(0).is_in_use());
    counters.subtract_bytes_held(1);
    CHECK_FALSE(metrics.snapshot().entries.at(0).is_in_use());
}

TEST_CASE("reasons have names of their own") {
    std::set<std::string> names;
    for (const RecaptureReason reason : all_recapture_reasons) {
        names.emplace(name(reason));
    }
    CHECK(names == std::set<std::string>{"not_warmed_up", "released", "mode_changed"});
}

TEST_CASE("entries are told apart and keep their place and order") {
    Metrics metrics;
    ForecastCounters& first = metrics.counters("cuda", large, Mode::eager);
    ForecastCounters& second = metrics.counters("cuda", small, Mode::max_autotune);
    ForecastCounters& third = metrics.counters("cuda", small, Mode::eager);
    for (int i = 0; i < 100; ++i) {  // the list grows
        metrics.counters("backend " + std::to_string(i), small, Mode::eager);
    }
    ForecastCounters& fourth = metrics.counters("cpu", large, Mode::eager);
    CHECK(&metrics.counters("cuda", large, Mode::eager) == &first);
    CHECK(std::set{&first, &second, &third, &fourth}.size() == 4);
    const Snapshot snapshot = metrics.snapshot();
    REQUIRE(snapshot.entries.size() == 104);
    CHECK(snapshot.entries[100].backend == "cpu");
    CHECK(snapshot.entries[101].bucket == small);
    CHECK(snapshot.entries[101].mode == Mode::eager);
    CHECK(snapshot.entries[102].bucket == small);
    CHECK(snapshot.entries[102].mode == Mode::max_autotune);
    CHECK(snapshot.entries[103].bucket == large);
}

TEST_CASE("a snapshot tells what caches did since the program began, and after a reset since then") {
    tg::cache_counts().of("early").add_hits(3);
    Metrics metrics;
    Metrics other;
    CHECK(cache_of(metrics.snapshot(), "early").hits == 3);
    tg::cache_counts().of("early").add_ignored("It is torn.");
    CHECK(cache_of(metrics.reset(), "early").ignored == 1);
    tg::cache_counts().of("early").add_hits(2);
    tg::cache_counts().of("late").add_misses(1);
    const Snapshot snapshot = metrics.snapshot();
    CHECK(cache_of(snapshot, "early").hits == 2);
    CHECK(cache_of(snapshot, "early").ignored == 0);
    CHECK(cache_of(snapshot, "early").last_reason.empty());
    CHECK(cache_of(snapshot, "late").misses == 1);
    CHECK(cache_of(other.snapshot(), "early").hits == 5);
}

TEST_CASE("threads record, others read: nothing is lost") {
    constexpr int per_thread = 40'000;
    auto metrics = std::make_shared<Metrics>();
    std::uint64_t seen = 0;
    bool only_grows = true;
    on_threads(
        [&](int thread) {
            ForecastCounters& counters = metrics->counters("cpu", small, Mode::standard);
            for (int i = 1; i <= per_thread; ++i) {
                counters.add_forecast(nanoseconds(1000 * (thread + 1) + i), 2);
                if (i % 8 == 0) {
                    counters.add_failure();
                    counters.add_recapture(RecaptureReason::released);
                    counters.add_bytes_held(10);
                    counters.add_build(0.001, 3);
                    counters.subtract_bytes_held(9);
                }
            }
        },
        [&] {
            const Snapshot snapshot = metrics->snapshot();
            const std::uint64_t now = snapshot.entries.empty() ? 0 : snapshot.entries[0].forecasts;
            only_grows = only_grows && now >= seen;
            seen = now;
        });
    CHECK(only_grows);
    const Snapshot::Entry entry = metrics->snapshot().entries.at(0);
    CHECK(entry.forecasts == thread_count * per_thread);
    CHECK(entry.latency().count == entry.forecasts);
    CHECK(entry.latencies.min_nanoseconds == 1001);
    CHECK(entry.latencies.max_nanoseconds == 1000 * thread_count + per_thread);
    const std::uint64_t numbers = std::uint64_t{per_thread} * (per_thread + 1) / 2;
    CHECK(entry.latencies.sum_nanoseconds ==
          thread_count * numbers + std::uint64_t{1000 * per_thread} * (1 + 2 + 3 + 4));
    CHECK(entry.replays == 2 * thread_count * per_thread);
    CHECK(entry.failures == thread_count * per_thread / 8);
    CHECK(entry.recaptures == std::array<std::uint64_t, 3>{0, entry.failures, 0});
    CHECK(entry.builds == entry.failures);
    CHECK(entry.captures == 3 * entry.builds);
    CHECK(entry.bytes_held == entry.failures);
    CHECK(entry.build_seconds == doctest::Approx(0.001 * static_cast<double>(entry.builds)));
}

TEST_CASE("threads record, another one resets: each event is in one result") {
    constexpr int per_thread = 40'000;
    Metrics metrics;
    ForecastCounts total;
    const auto take = [&](const Snapshot& snapshot) {
        const Snapshot::Entry& entry = snapshot.entries.at(0);
        total.forecasts += entry.forecasts;
        total.replays += entry.replays;
        total.failures += entry.failures;
        total.captures += entry.captures;
        total.latencies.sum_nanoseconds += entry.latencies.sum_nanoseconds;
        CHECK(entry.latency().count == entry.forecasts);
    };
    metrics.counters("cpu", small, Mode::standard);
    std::uint64_t resets = 0;
    on_threads(
        [&](int) {
            ForecastCounters& counters = metrics.counters("cpu", small, Mode::standard);
            for (int i = 1; i <= per_thread; ++i) {
                counters.add_forecast(nanoseconds(i), 3);
                counters.add_failure();
                counters.add_build(0, 5);
            }
        },
        [&] {
            take(metrics.reset());
            ++resets;
        });
    take(metrics.reset());
    CHECK(total.forecasts == thread_count * per_thread);
    CHECK(total.replays == 3 * thread_count * per_thread);
    CHECK(total.failures == thread_count * per_thread);
    CHECK(total.captures == 5 * thread_count * per_thread);
    CHECK(total.latencies.sum_nanoseconds == thread_count * (std::uint64_t{per_thread} * (per_thread + 1) / 2));
    const Snapshot last = metrics.snapshot();
    CHECK(last.resets == resets + 1);
    CHECK(last.entries.at(0).forecasts == 0);
}

TEST_CASE("two snapshots make a window") {
    Metrics metrics;
    ForecastCounters& counters = metrics.counters("cpu", small, Mode::standard);
    tg::cache_counts().of("window").add_hits(7);
    counters.add_build(1.0, 2);
    counters.add_bytes_held(100);
    for (int i = 0; i < 100; ++i) {
        counters.add_forecast(std::chrono::seconds(1), 1);  // slow ones, before the window
    }
    const Snapshot earlier = metrics.snapshot();
    std::vector<Nanoseconds> values;
    for (int i = 1; i <= 200; ++i) {
        values.push_back(std::uint64_t{1'000'000} + 10'000 * static_cast<std::uint64_t>(i));
        counters.add_forecast(duration(values.back()), 1);
    }
    counters.add_bytes_held(50);
    counters.add_failure();
    tg::cache_counts().of("window").add_hits(2);
    metrics.counters("cpu", large, Mode::standard).add_forecast(std::chrono::milliseconds(9));
    const Snapshot later = metrics.snapshot();

    const Snapshot window = difference(later, earlier);
    const Snapshot::Entry& entry = entry_of(window, small, Mode::standard);
    CHECK(entry.forecasts == 200);
    CHECK(entry.replays == 200);
    CHECK(entry.failures == 1);
    CHECK(entry.builds == 0);
    CHECK(entry.captures == 0);
    CHECK(entry.build_seconds == 0);
    CHECK(entry.bytes_held == 150);
    const LatencySummary latency = entry.latency();
    CHECK(latency.count == 200);
    for (const auto& [share, found] :
         {std::pair(0.5, latency.p50), std::pair(0.9, latency.p90), std::pair(0.99, latency.p99)}) {
        const double exact = exact_percentile(values, share);
        CHECK(std::abs(found - exact) <= exact / 32);
    }
    CHECK(latency.min == 0.00101);  // of all time as well
    CHECK(std::abs(latency.max - 0.003) <= 0.003 / 16);
    CHECK(cache_of(window, "window").hits == 2);
    CHECK(entry_of(window, large, Mode::standard).forecasts == 1);
    CHECK(window.since_seconds >= 0);
    CHECK(window.since_seconds == later.since_seconds - earlier.since_seconds);

    const Snapshot nothing = difference(later, later);
    CHECK(nothing.entries.at(0).forecasts == 0);
    CHECK(nothing.entries.at(0).latency().max == 0);
    CHECK(nothing.entries.at(0).latencies.buckets.empty());
    CHECK(nothing.entries.at(0).bytes_held > 0);

    // The wrong way round is nothing, not a number beyond all others.
    const Snapshot backwards = difference(earlier, later);
    CHECK(backwards.entries.at(0).forecasts == 0);
    CHECK(backwards.entries.at(0).latency().count == 0);
    CHECK(backwards.since_seconds == 0);
    CHECK(cache_of(backwards, "window").hits == 0);

    metrics.reset();
    counters.add_forecast(std::chrono::milliseconds(5));
    const Snapshot since_reset = difference(metrics.snapshot(), later);
    CHECK(entry_of(since_reset, small, Mode::standard).forecasts == 1);
    CHECK(entry_of(since_reset, small, Mode::standard).latency().max == 0.005);
}

TEST_CASE("recording a forecast allocates nothing") {
    Metrics metrics;
    ForecastCounters& counters = metrics.counters("cpu", small, Mode::standard);
    tg::set_logs("");
    const std::size_t before_any = allocations;
    (void)metrics.snapshot();
    CHECK(allocations > before_any);  // the counter sees allocations
    const std::size_t before = allocations;
    for (int i = 0; i < 1000; ++i) {
        counters.add_forecast(nanoseconds(i * i), 4);
        counters.add_failure();
        counters.add_eager_fallback();
        metrics.add_request_without_bucket();
        counters.add_recapture(RecaptureReason::released);
        counters.add_build(0.5, 2);
        counters.add_bytes_held(4);
        tg::log(tg::LogTopic::capture, [] { return std::string(100, 'x'); });
    }
    CHECK(allocations == before);
}
