// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include <totograph/exec/cpu/gemm/gemm.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/serve/explain/explanation.hpp>

namespace totograph::serve {

namespace detail {

/// The shortest of the calls of `action` that about 80 ms have room for, at least two, in seconds.
template <class Action>
double shortest_seconds(Action action) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    double shortest = 0;
    for (int calls = 0; calls < 2 || Clock::now() - begin < std::chrono::milliseconds(80); ++calls) {
        const auto start = Clock::now();
        action();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        shortest = calls == 0 ? seconds : std::min(shortest, seconds);
    }
    return std::max(shortest, 1e-9);
}

/// Bytes read and written in a second by threads that copy memory, each its part of 48 MiB.
double measure_copying(cpu::ThreadPool& pool);

/// Operations in a second of the library's own GEMM in f32, many rows by a matrix that stays in the caches.
double measure_gemms(cpu::ThreadPool& pool);

}  // namespace detail

/// What the CPU reaches with so many threads (0: all that it may use), measured in about 0.2 s: copying memory, and
/// GEMMs in f32. On a machine that is busy with other things this is less than it could be. Throws `Error`
/// (`invalid_argument`) when the number of threads is negative.
inline DeviceSpeed measure_cpu_speed(int threads = 0) {
    cpu::ThreadPool pool(thread_count(threads));
    return {detail::measure_copying(pool), detail::measure_gemms(pool)};
}

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/explain/impl/measure_cpu_speed.hpp>
#endif
