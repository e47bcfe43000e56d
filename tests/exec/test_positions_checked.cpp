// SPDX-License-Identifier: Apache-2.0
#define TOTOGRAPH_CHECKED
#include <csignal>
#include <cstdint>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/executors.hpp"

// In a checked build, the first position out of bounds ends the program.

using namespace totograph;
using namespace totograph::test;

namespace {

struct Taken {
    static constexpr void record(Recorder& r) {
        r.store(r.state("out", {1, 4}), take(r.state("source", {5, 4}), 0, r.state("at", {1}, DType::i32)));
    }
};

template <class Executor>
int signal_of(Executor executor, std::int32_t position) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);  // not doctest's, which would report a failure
        std::freopen("/dev/null", "w", stderr);
        state_of<std::int32_t>(executor, "at")[0] = position;
        executor.template run<0>();
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST_CASE("a checked build ends where a position is out of bounds, and only there") {
    CHECK(signal_of(Fused<Program<Taken>>(made_up_weights(), one_thread()), 4) == 0);
    CHECK(signal_of(Fused<Program<Taken>>(made_up_weights(), one_thread()), 5) == SIGABRT);
    CHECK(signal_of(Eager<Recorded<Taken>>(made_up_weights(), one_thread()), 4) == 0);
    CHECK(signal_of(Eager<Recorded<Taken>>(made_up_weights(), one_thread()), -1) == SIGABRT);
}
