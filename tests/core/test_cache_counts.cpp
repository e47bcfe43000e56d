// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/cache_counts.hpp>

using namespace totograph;

TEST_CASE("caches are counted by name") {
    CacheCounters counters;
    CHECK(counters.read().empty());
    CacheCounter& tuning = counters.of("tuning");
    tuning.add_hits();
    tuning.add_hits(4);
    counters.of("weights").add_misses(2);
    CHECK(&counters.of("tuning") == &tuning);
    tuning.add_ignored("The file is too short.");
    tuning.add_ignored("The file is of another device.");
    const std::vector<CacheCounts> counts = counters.read();
    REQUIRE(counts.size() == 2);
    CHECK(counts[0].name == "tuning");
    CHECK(counts[0].hits == 5);
    CHECK(counts[0].misses == 0);
    CHECK(counts[0].ignored == 2);
    CHECK(counts[0].last_reason == "The file is of another device.");
    CHECK(counts[1].name == "weights");
    CHECK(counts[1].hits == 0);
    CHECK(counts[1].misses == 2);
    CHECK(counts[1].ignored == 0);
    CHECK(counts[1].last_reason.empty());
}

TEST_CASE("caches of a process are counted in one place, from all threads") {
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) {
                cache_counts().of("a cache of this test").add_hits();
                cache_counts().of("a cache of this test").add_ignored("A reason.");
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const CacheCounts counts = cache_counts().of("a cache of this test").read();
    CHECK(counts.hits == 4000);
    CHECK(counts.ignored == 4000);
}
