// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/gemm.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
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
inline double measure_copying(cpu::ThreadPool& pool) {
    constexpr std::size_t bytes = std::size_t{48} << 20U;
    const Arena from(bytes);
    const Arena to(bytes);
    const std::size_t part = bytes / static_cast<std::size_t>(pool.threads());
    const auto each_part = [&](auto action) {
        pool.for_each_thread([&](int thread) { action(part * static_cast<std::size_t>(thread)); });
    };
    // Pages that nobody wrote to are one page of zeros, which never leaves the caches.
    each_part([&](std::size_t offset) { std::memset(from.data() + offset, 1, part); });
    const double seconds = shortest_seconds(
        [&] { each_part([&](std::size_t offset) { std::memcpy(to.data() + offset, from.data() + offset, part); }); });
    return 2.0 * static_cast<double>(part * static_cast<std::size_t>(pool.threads())) / seconds;
}

/// Operations in a second of the library's own GEMM in f32, many rows by a matrix that stays in the caches.
inline double measure_gemms(cpu::ThreadPool& pool) {
    constexpr Index rows = 384;
    constexpr Index columns = 512;
    constexpr Index k = 512;
    const std::vector<float> input(static_cast<std::size_t>(rows * k), 0.5F);
    const std::vector<float> values(static_cast<std::size_t>(columns * k), 0.25F);
    const auto weights = cpu::PackedMatrix<float>::pack(values.data(), columns, k);
    const auto drop = [](const float*, Index, Index, Index, Index, Index, int) {};
    const double seconds = shortest_seconds([&] { cpu::gemm(pool, input.data(), rows, k, weights, drop); });
    return 2.0 * static_cast<double>(rows * columns * k) / seconds;
}

}  // namespace detail

/// What the CPU reaches with so many threads (0: all that it may use), measured in about 0.2 s: copying memory, and
/// GEMMs in f32. On a machine that is busy with other things this is less than it could be. Throws `Error`
/// (`invalid_argument`) when the number of threads is negative.
inline DeviceSpeed measure_cpu_speed(int threads = 0) {
    cpu::ThreadPool pool(thread_count(threads));
    return {detail::measure_copying(pool), detail::measure_gemms(pool)};
}

}  // namespace totograph::serve
