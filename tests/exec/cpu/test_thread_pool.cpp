// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#ifdef __unix__
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/team.hpp>

#include "support/sanitized.hpp"

using totograph::Error;
using totograph::ErrorCode;
using totograph::Index;
using totograph::cpu::parallel_for;
using totograph::cpu::ThreadPool;
using totograph::cpu::WorkQueue;
using totograph::test::repetitions;

TEST_CASE("every thread of a pool runs the function once, the caller as thread 0") {
    for (const int threads : {1, 2, 3, 8}) {
        CAPTURE(threads);
        ThreadPool pool(threads);
        CHECK(pool.threads() == threads);
        std::vector<int> runs(static_cast<std::size_t>(threads));
        std::vector<std::thread::id> ids(static_cast<std::size_t>(threads));
        pool.for_each_thread([&](int thread) {
            ++runs[static_cast<std::size_t>(thread)];
            ids[static_cast<std::size_t>(thread)] = std::this_thread::get_id();
        });
        CHECK(runs == std::vector<int>(static_cast<std::size_t>(threads), 1));
        CHECK(ids[0] == std::this_thread::get_id());
        for (std::size_t thread = 1; thread < ids.size(); ++thread) {
            CHECK(ids[thread] != ids[thread - 1]);
        }
    }
}

TEST_CASE("each round of a pool sees what the rounds before it wrote") {
    constexpr int rounds = repetitions(2000);
    ThreadPool pool(3);
    std::vector<int> values(3);
    for (int round = 0; round < rounds; ++round) {
        std::vector<int> next(3);
        pool.for_each_thread([&](int thread) {
            next[static_cast<std::size_t>(thread)] = values[static_cast<std::size_t>((thread + 1) % 3)] + 1;
        });
        values = next;
    }
    CHECK(values == std::vector<int>(3, rounds));
}

#if defined(__unix__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a forked process starts threads of its own for a pool, and ends") {
    ThreadPool pool(3);
    pool.for_each_thread([](int) {});
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20);  // ends a child that waits for threads that it has not
        int failures = 0;
        for (int round = 0; round < 3; ++round) {
            std::vector<int> runs(3);
            pool.for_each_thread([&](int thread) { ++runs[static_cast<std::size_t>(thread)]; });
            failures += runs == std::vector<int>(3, 1) ? 0 : 1;
        }
        { const ThreadPool own(2); }
        _exit(failures);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    std::vector<int> runs(3);
    pool.for_each_thread([&](int thread) { ++runs[static_cast<std::size_t>(thread)]; });
    CHECK(runs == std::vector<int>(3, 1));
}
#endif

TEST_CASE("a pool wakes threads that fell asleep, and waits for slow ones") {
    ThreadPool pool(3);
    for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        std::atomic<int> finished{0};
        pool.for_each_thread([&](int thread) {
            if (thread == 2) {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
            ++finished;
        });
        CHECK(finished == 3);
    }
}

TEST_CASE("a pool can be destroyed while its threads are awake or asleep, used or not") {
    std::atomic<int> runs{0};
    for (int round = 0; round < 20; ++round) {
        ThreadPool pool(3);
        if (round % 4 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        if (round % 2 == 0) {
            pool.for_each_thread([&](int) { ++runs; });
        }
    }
    CHECK(runs == 30);
}

TEST_CASE("a pool of no threads is an error that says what to do") {
    for (const int threads : {0, -3}) {
        try {
            const ThreadPool pool(threads);
            FAIL("a pool of " << threads << " threads was made");
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::invalid_argument);
            const std::string message = error.what();
            CHECK(message.find(std::to_string(threads) + " were asked for") != std::string::npos);
        }
    }
}

#if defined(__GLIBC__) && !defined(TOTOGRAPH_TEST_HAS_SANITIZER)
TEST_CASE("more threads than the system starts are an error, and those that it started end") {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20);
        // There is room for the stacks of a few threads alone.
        constexpr rlim_t stack = rlim_t{64} << 20U;
        constexpr rlim_t room = rlim_t{1} << 30U;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, stack);
        pthread_setattr_default_np(&attributes);
        const rlimit limit{room, room};
        int failures = setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : 1;
        for (int round = 0; round < 3; ++round) {
            try {
                const ThreadPool pool(1000);
                failures += 2;
            } catch (const Error& error) {
                const std::string message = error.what();
                const bool is_said = message.find("pool of 1000 threads") != std::string::npos &&
                                     message.find("Pass fewer threads.") != std::string::npos;
                failures += is_said && error.code() == ErrorCode::invalid_argument ? 0 : 4;
            } catch (...) {
                failures += 8;
            }
        }
        failures += totograph::Team(1000).threads() == 1 ? 0 : 16;
        { const ThreadPool pool(2); }  // room is again
        _exit(failures);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
#endif

TEST_CASE("a queue hands out each number once, in order") {
    WorkQueue queue(3);
    Index item = -1;
    for (Index expected = 0; expected < 3; ++expected) {
        CHECK(queue.claim(item));
        CHECK(item == expected);
    }
    CHECK_FALSE(queue.claim(item));
    CHECK_FALSE(queue.claim(item));
}

TEST_CASE("parallel_for runs each chunk once, on threads of the pool") {
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        for (const Index chunks : {0, 1, 2, 3, 100, 1000}) {
            CAPTURE(threads);
            CAPTURE(chunks);
            std::vector<int> runs(static_cast<std::size_t>(chunks));
            std::atomic<bool> is_thread_known{true};
            parallel_for(pool, chunks, [&](Index chunk, int thread) {
                ++runs[static_cast<std::size_t>(chunk)];
                if (thread < 0 || thread >= threads) {
                    is_thread_known = false;
                }
            });
            CHECK(runs == std::vector<int>(static_cast<std::size_t>(chunks), 1));
            CHECK(is_thread_known);
        }
    }
}

TEST_CASE("parallel_for runs one chunk on the caller") {
    ThreadPool pool(4);
    std::thread::id id;
    parallel_for(pool, 1, [&](Index, int) { id = std::this_thread::get_id(); });
    CHECK(id == std::this_thread::get_id());
}
