// SPDX-License-Identifier: Apache-2.0
// Times GEMMs against Eigen's, and against the rate at which this machine reads memory.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <totograph/exec/cpu/gemm/gemm.hpp>

namespace {

using totograph::BFloat16;
using totograph::Index;
namespace cpu = totograph::cpu;

using RowMajorMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::Map<RowMajorMatrix, Eigen::Unaligned, Eigen::OuterStride<>>;

/// Enough weights that no cache holds them from one round to the next.
constexpr Index weights_to_cycle = 100'000'000;
constexpr int repeats = 7;
constexpr double seconds_per_repeat = 0.02;

struct LinearShape {
    Index k;
    Index columns;
};

/// Copies a tile to a row-major matrix.
struct StoreTile {
    float* y;
    Index y_stride;

    void operator()(const float* tile, Index tile_stride, Index first_row, Index row_count, Index first_column,
                    Index column_count, int) const noexcept {
        for (Index row = 0; row < row_count; ++row) {
            std::copy_n(tile + row * tile_stride, column_count, y + (first_row + row) * y_stride + first_column);
        }
    }
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::vector<float> noise(Index count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::uint32_t state = 12345;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(state >> 8U) * 0x1p-23F - 1.0F;
    }
    return values;
}

/// Gigabytes a second of a plain sum over 400 MB.
double read_bandwidth(cpu::ThreadPool& pool) {
    constexpr Index count = 100'000'000;
    const std::vector<float> buffer(static_cast<std::size_t>(count), 1.0F);
    std::vector<float> sums(static_cast<std::size_t>(pool.threads()) * 32);
    std::vector<double> seconds;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const double start = now();
        pool.for_each_thread([&](int thread) {
            const Index begin = count * thread / pool.threads();
            const Index end = count * (thread + 1) / pool.threads();
            cpu::Packet sum[4] = {cpu::zero_packet(), cpu::zero_packet(), cpu::zero_packet(), cpu::zero_packet()};
            for (Index i = begin; i + 4 * cpu::packet_size <= end; i += 4 * cpu::packet_size) {
                const float* from = buffer.data() + i;
                sum[0] = cpu::add(sum[0], cpu::load(from));
                sum[1] = cpu::add(sum[1], cpu::load(from + cpu::packet_size));
                sum[2] = cpu::add(sum[2], cpu::load(from + 2 * cpu::packet_size));
                sum[3] = cpu::add(sum[3], cpu::load(from + 3 * cpu::packet_size));
            }
            sums[static_cast<std::size_t>(thread) * 32] =
                cpu::sum_of_lanes(cpu::add(cpu::add(sum[0], sum[1]), cpu::add(sum[2], sum[3])));
        });
        seconds.push_back(now() - start);
    }
    if (sums[0] < 1.0F) {
        std::printf("the sum is wrong\n");
    }
    return static_cast<double>(count) * sizeof(float) / median(seconds) / 1e9;
}

/// Runs `round` until some time has passed; the seconds that one took.
template <class Round>
double time_round(Round&& round) {
    const double start = now();
    double elapsed = 0;
    int rounds = 0;
    do {
        round();
        ++rounds;
        elapsed = now() - start;
    } while (elapsed < seconds_per_repeat);
    return elapsed / rounds;
}

/// All copies of one layer's weights, larger than the caches together.
struct Layers {
    std::vector<float> plain;
    std::vector<cpu::PackedMatrix<float>> packed;
    std::vector<cpu::PackedMatrix<BFloat16>> packed_bfloat16;
};

Layers make_layers(const LinearShape& shape) {
    Layers layers;
    const Index size = shape.k * shape.columns;
    const Index count = weights_to_cycle / size;
    layers.plain = noise(count * size);
    for (Index copy = 0; copy < count; ++copy) {
        const float* weights = layers.plain.data() + copy * size;
        layers.packed.push_back(cpu::PackedMatrix<float>::pack(weights, shape.columns, shape.k));
        layers.packed_bfloat16.push_back(cpu::PackedMatrix<BFloat16>::pack(weights, shape.columns, shape.k));
    }
    return layers;
}

void compare(cpu::ThreadPool& pool, const LinearShape& shape, const Layers& layers, Index rows) {
    const std::vector<float> x = noise(rows * shape.k);
    std::vector<float> y(static_cast<std::size_t>(rows * shape.columns));
    StoreTile store{y.data(), shape.columns};
    std::size_t turn = 0;
    const auto next = [&] { return turn = (turn + 1) % layers.packed.size(); };

    const auto eigen = [&] {
        const float* weights = layers.plain.data() + static_cast<Index>(next()) * shape.k * shape.columns;
        pool.for_each_thread([&](int thread) {
            const Index begin = shape.columns * thread / pool.threads();
            const Index end = shape.columns * (thread + 1) / pool.threads();
            const Eigen::Map<const RowMajorMatrix> left(x.data(), rows, shape.k);
            const Eigen::Map<const RowMajorMatrix> right(weights + begin * shape.k, end - begin, shape.k);
            Strided out(y.data() + begin, rows, end - begin, Eigen::OuterStride<>(shape.columns));
            out.noalias() = left * right.transpose();
        });
    };
    const auto single = [&] { cpu::gemm(pool, {x.data(), rows, shape.k}, layers.packed[next()], store); };
    const auto half = [&] { cpu::gemm(pool, {x.data(), rows, shape.k}, layers.packed_bfloat16[next()], store); };

    std::vector<double> seconds[3];
    for (int repeat = 0; repeat < repeats; ++repeat) {
        seconds[0].push_back(time_round(eigen));
        seconds[1].push_back(time_round(single));
        seconds[2].push_back(time_round(half));
    }
    const char* const names[] = {"Eigen float", "ours float", "ours bf16"};
    for (int way = 0; way < 3; ++way) {
        const double time = median(seconds[way]);
        const double weights = static_cast<double>(shape.k * shape.columns);
        std::printf("%5lld -> %-5lld %5lld  %-12s %9.1f us %8.1f GFLOP/s %7.1f GB/s %6.2fx Eigen\n",
                    static_cast<long long>(shape.k), static_cast<long long>(shape.columns),
                    static_cast<long long>(rows), names[way], time * 1e6,
                    2 * static_cast<double>(rows) * weights / time / 1e9, weights * (way == 2 ? 2 : 4) / time / 1e9,
                    median(seconds[0]) / time);
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const int threads = argument_count > 1 ? std::atoi(arguments[1]) : 2;
    cpu::ThreadPool pool(threads);
    std::printf("threads %d, packet of %lld floats, plain read %.1f GB/s\n", threads,
                static_cast<long long>(cpu::packet_size), read_bandwidth(pool));
    for (const LinearShape shape : {LinearShape{768, 768}, LinearShape{768, 3072}, LinearShape{3072, 768}}) {
        const Layers layers = make_layers(shape);
        for (const Index rows : {1, 2, 4, 7, 8, 12, 18, 32, 48, 448}) {
            compare(pool, shape, layers, rows);
        }
    }
    std::printf("plain read %.1f GB/s\n", read_bandwidth(pool));
    return 0;
}
