// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/forecast/cpu/resources.hpp>

using namespace totograph;

TEST_CASE("a number of threads that no machine has is refused before any is started") {
    CHECK(thread_count(0) >= 1);
    CHECK(thread_count(most_threads) == most_threads);
    CHECK_THROWS_WITH_AS((void)thread_count(-1), doctest::Contains("cannot use -1 threads"), Error);
    for (const int threads : {most_threads + 1, 1'000'000'000}) {
        CHECK_THROWS_WITH_AS((void)thread_pool_of({.threads = threads}), doctest::Contains("at most 4096"), Error);
    }
}
