// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <vector>

#include "toto/cases.hpp"
#include "toto/series.hpp"

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

// A forecast makes no system call: a child process gives up the right to make any (seccomp), forecasts, and hands the
// result back through a pipe. The kernel kills it at the first call of another kind. With more threads than one, the
// forecast may wait for its threads (futex) and let others run (sched_yield), and do nothing else.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TOTOGRAPH_TEST_HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TOTOGRAPH_TEST_HAS_SANITIZER
#endif
#endif

#if defined(__linux__) && !defined(TOTOGRAPH_TEST_HAS_SANITIZER)

using namespace made_up;
using Model = fixture::models::Small;

namespace {

constexpr tg::Bucket mean_bucket{.batch = 2, .variates = 3, .context = 40, .horizon = 24};
constexpr tg::Bucket sampled_bucket{.variates = 2, .context = 24, .horizon = 20, .samples = 5};

/// Allows `write`, `exit` and returning from a signal, and nothing else.
bool forbid_system_calls() {
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
}

/// As `forbid_system_calls`, for all threads of the process, and allows waiting and yielding.
bool forbid_all_but_waiting() {
    constexpr auto number = static_cast<unsigned>(offsetof(seccomp_data, nr));
    constexpr std::array allowed{SYS_write, SYS_exit, SYS_rt_sigreturn, SYS_futex, SYS_sched_yield};
    std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number)};
    for (const auto call : allowed) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

struct Outcome {
    bool was_killed = false;
    bool is_available = true;  ///< Whether this system can forbid calls.
    std::vector<float> values;
};

/// Runs `make` in a child, takes its right to make system calls, runs what `make` returned (which returns floats), and
/// reads these.
template <class Make>
Outcome run_forbidden(bool (*forbid)(), Make&& make) {
    constexpr int cannot_forbid = 77;
    int ends[2] = {};
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const rlimit no_core_file{0, 0};
        (void)::setrlimit(RLIMIT_CORE, &no_core_file);
        auto action = make();
        if (!forbid()) {
            ::_exit(cannot_forbid);
        }
        const auto values = action();
        bool is_written = true;
        std::size_t done = 0;
        const auto* bytes = reinterpret_cast<const char*>(values.data());
        while (is_written && done < values.size() * sizeof(float)) {
            const auto count = ::write(ends[1], bytes + done, values.size() * sizeof(float) - done);
            is_written = count > 0;
            done += is_written ? static_cast<std::size_t>(count) : 0;
        }
        // Not `_exit`: that ends all threads with a call that is not allowed either.
        (void)::syscall(SYS_exit, is_written ? 0 : 1);
    }
    ::close(ends[1]);
    Outcome outcome;
    float value = 0;
    // Floats are written in pieces of whole floats: far fewer bytes than a pipe holds.
    while (::read(ends[0], &value, sizeof value) == static_cast<ssize_t>(sizeof value)) {
        outcome.values.push_back(value);
    }
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    outcome.was_killed = WIFSIGNALED(status);
    outcome.is_available = !(WIFEXITED(status) && WEXITSTATUS(status) == cannot_forbid);
    return outcome;
}

bool is_available(bool (*forbid)()) {
    const Outcome outcome = run_forbidden(forbid, [] { return [] { return std::span<const float>(); }; });
    if (!outcome.is_available) {
        MESSAGE("skipped: this system does not let a process give up its system calls (seccomp).");
    }
    return outcome.is_available;
}

/// Forecasts in a child without system calls and compares with a forecast in this process.
template <tg::Bucket bucket>
void check(int threads, bool (*forbid)()) {
    Request request = waves(bucket.batch, bucket.variates, bucket.context);
    make_gaps(request);
    const auto weights = tg::toto::load<Model>(fixture::folder("mixture"));
    const auto values_of = [](const tg::Forecast& forecast) {
        return bucket.samples > 0 ? std::vector<float>(forecast.samples().begin(), forecast.samples().end())
                                  : forecast.mean();
    };
    // Everything is made in the child: threads do not survive a fork.
    const Outcome outcome = run_forbidden(forbid, [&] {
        auto forecaster = std::make_shared<tg::Forecaster<Model, bucket>>(weights, tg::ForecasterResources{threads});
        auto result = std::make_shared<std::vector<float>>(values_of(forecaster->forecast(request.series())));
        std::fill(result->begin(), result->end(), 0.0F);
        return [&request, forecaster, result] {
            const tg::Forecast forecast = forecaster->forecast(request.series(), {.seed = 4});
            return forecast_values(forecast, *result);
        };
    });
    CHECK(!outcome.was_killed);
    tg::Forecaster<Model, bucket> here(weights, {.threads = 1});
    CHECK(outcome.values == values_of(here.forecast(request.series(), {.seed = 4})));
}

}  // namespace
#endif
