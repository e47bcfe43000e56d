// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "models/toto1/series.hpp"
#include "models/toto1/shared_forecasters.hpp"
#include "support/sanitized.hpp"

#if defined(__linux__) && !defined(TOTOGRAPH_TEST_HAS_SANITIZER)

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// A forecast makes no system call: a child process gives up the right to make any (seccomp), forecasts, and writes the
// result to a pipe. The kernel kills it at the first other call. With more threads than one, a forecast may wake its
// threads and wait for them (futex) and let others run (sched_yield), and do nothing else.

using namespace made_up;
using shared::mean_bucket;
using shared::sampled_bucket;

namespace {

/// How a process gives up system calls.
struct Rules {
    bool (*apply)();
    long exit_call;  ///< How it ends itself then.
};

/// Allows reading, writing, exit of a thread and returning from a signal.
bool allow_nothing() {
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
}

/// Allows, in all threads of the process, waiting and yielding too.
bool allow_waiting() {
    constexpr auto number = static_cast<unsigned>(offsetof(seccomp_data, nr));
    std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number)};
    for (const auto call : {SYS_write, SYS_exit_group, SYS_futex, SYS_sched_yield}) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

constexpr Rules no_call{allow_nothing, SYS_exit};
constexpr Rules waiting_only{allow_waiting, SYS_exit_group};

struct Outcome {
    bool was_killed = false;
    bool is_available = true;  ///< Whether this system lets a process give up calls.
    std::vector<float> values;
};

/// In a child: runs `prepare`, applies the rules, runs the function that `prepare` returned, and hands its result (a
/// span of floats) over.
template <class Prepare>
Outcome run_in_child(const Rules& rules, Prepare&& prepare) {
    constexpr int not_available = 77;
    int ends[2] = {};
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const rlimit no_core_file{0, 0};
        (void)::setrlimit(RLIMIT_CORE, &no_core_file);
        const auto action = prepare();
        if (!rules.apply()) {
            ::_exit(not_available);
        }
        const std::span<const float> result = action();
        const auto count = ::write(ends[1], result.data(), result.size_bytes());
        (void)::syscall(rules.exit_call, count == static_cast<ssize_t>(result.size_bytes()) ? 0 : 1);
    }
    ::close(ends[1]);
    Outcome outcome;
    std::array<float, 16384> buffer{};  // as much as a pipe takes in one go
    const auto count = ::read(ends[0], buffer.data(), sizeof buffer);
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    outcome.values.assign(buffer.begin(), buffer.begin() + count / static_cast<ssize_t>(sizeof(float)));
    outcome.was_killed = WIFSIGNALED(status);
    outcome.is_available = !(WIFEXITED(status) && WEXITSTATUS(status) == not_available);
    return outcome;
}

bool is_available(const Rules& rules) {
    const bool available = run_in_child(rules, [] { return [] { return std::span<const float>(); }; }).is_available;
    if (!available) {
        MESSAGE("skipped: this system does not let a process give up its system calls (seccomp).");
    }
    return available;
}

/// A forecast in a child, on one thread the very first of its forecaster, against one in this process.
template <tg::Bucket bucket>
void check_forecast(const Rules& rules, int threads) {
    if (!is_available(rules)) {
        return;
    }
    Request request = waves(bucket.batch, bucket.variates, bucket.context);
    make_gaps(request);
    const tg::Weights weights = shared::load();
    const Outcome outcome = run_in_child(rules, [&] {
        const std::shared_ptr<shared::AnyForecaster> forecaster = shared::make_forecaster<bucket>(weights, threads);
        if (threads > 1) {
            (void)forecaster->forecast(request.series());  // threads are still starting after construction
        }
        return [forecaster, &request] { return forecaster->forecast(request.series(), {.seed = 4}).values(); };
    });
    CHECK(!outcome.was_killed);
    const auto here = shared::make_forecaster<bucket>(weights, 1);
    const auto expected = here->forecast(request.series(), {.seed = 4}).values();
    CHECK(outcome.values == std::vector<float>(expected.begin(), expected.end()));
}

}  // namespace

TEST_CASE("a child that makes a system call does not live") {
    for (const Rules& rules : {no_call, waiting_only}) {
        if (is_available(rules)) {
            const Outcome outcome = run_in_child(rules, [] {
                return [] {
                    (void)::syscall(SYS_getpid);
                    return std::span<const float>();
                };
            });
            CHECK(outcome.was_killed);
        }
    }
}

TEST_CASE("a mean forecast on one thread makes no system call") {
    check_forecast<mean_bucket>(no_call, 1);
}

TEST_CASE("a sampled forecast on one thread makes no system call") {
    check_forecast<sampled_bucket>(no_call, 1);
}

TEST_CASE("a mean forecast on two threads only waits and yields") {
    check_forecast<mean_bucket>(waiting_only, 2);
}

TEST_CASE("a sampled forecast on two threads only waits and yields") {
    check_forecast<sampled_bucket>(waiting_only, 2);
}

#else

TEST_CASE("a forecast makes no system call") {
    MESSAGE("skipped: this needs Linux and a program without sanitizers, which make system calls of their own.");
}

#endif
