// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/explain/measure_cpu_speed.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/gemm.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE double measure_copying(cpu::ThreadPool& pool) {
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

TOTOGRAPH_INLINE double measure_gemms(cpu::ThreadPool& pool) {
    constexpr Index rows = 384;
    constexpr Index columns = 512;
    constexpr Index k = 512;
    const std::vector<float> input(static_cast<std::size_t>(rows * k), 0.5F);
    const std::vector<float> values(static_cast<std::size_t>(columns * k), 0.25F);
    const auto weights = cpu::PackedMatrix<float>::pack(values.data(), columns, k);
    const auto drop = [](const float*, Index, Index, Index, Index, Index, int) {};
    const double seconds = shortest_seconds([&] { cpu::gemm(pool, {input.data(), rows, k}, weights, drop); });
    return 2.0 * static_cast<double>(rows * columns * k) / seconds;
}

}  // namespace totograph::serve::detail
