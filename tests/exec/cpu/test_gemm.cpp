// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cpu/gemm/gemm.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

using totograph::BFloat16;
using totograph::Index;
using totograph::cpu::gemm;
using totograph::cpu::PackedMatrix;
using totograph::cpu::packet_size;
using totograph::cpu::panel_width;
using totograph::cpu::ThreadPool;

namespace {

std::size_t at(Index index) {
    return static_cast<std::size_t>(index);
}

/// Numbers between -1 and 1 that do not repeat soon.
std::vector<float> noise(Index count, std::uint32_t seed) {
    std::vector<float> values(at(count));
    std::uint32_t state = seed * 2654435761U + 1U;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(state >> 8U) * 0x1p-23F - 1.0F;
    }
    return values;
}

/// Writes tiles to matrices and keeps count of how often each element came. What would be written beside them is
/// counted and left: it would break the test's memory, and then the test could end anyhow, or not at all.
struct Recorder {
    Index rows;
    Index columns;
    bool is_paired = false;
    std::vector<float> first = std::vector<float>(at(rows * columns));
    std::vector<float> second = std::vector<float>(at(rows * columns));
    std::vector<int> visits = std::vector<int>(at(rows * columns));
    int tiles_outside = 0;  ///< Counted by several threads.

    void operator()(const float* tile, Index tile_stride, Index first_row, Index row_count, Index first_column,
                    Index column_count, int) noexcept {
        if (first_row < 0 || first_row + row_count > rows || first_column < 0 ||
            first_column + column_count > columns) {
            ++std::atomic_ref(tiles_outside);
            return;
        }
        for (Index row = 0; row < row_count; ++row) {
            for (Index column = 0; column < column_count; ++column) {
                const std::size_t index = at((first_row + row) * columns + first_column + column);
                first[index] = tile[row * tile_stride + column];
                if (is_paired) {
                    second[index] = tile[row * tile_stride + packet_size + column];
                }
                ++visits[index];
            }
        }
    }

    [[nodiscard]] bool visited_each_once() const {
        return tiles_outside == 0 && std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; });
    }
};

template <class Storage>
double stored(float weight) {
    return static_cast<double>(static_cast<float>(Storage(weight)));
}

/// The largest error of `y = x W^T` against double precision, as a multiple of what rounding can cause: a chain of
/// `k` products and sums in float errs by at most (k + 1) * 2^-24 of the sum of |x| |w|, to first order.
template <class Storage>
double error_over_bound(const std::vector<float>& y, const std::vector<float>& x, Index rows, Index x_stride,
                        const std::vector<float>& weights, Index columns, Index k) {
    double worst = 0;
    for (Index row = 0; row < rows; ++row) {
        for (Index column = 0; column < columns; ++column) {
            double sum = 0;
            double magnitude = 0;
            for (Index i = 0; i < k; ++i) {
                const double term =
                    static_cast<double>(x[at(row * x_stride + i)]) * stored<Storage>(weights[at(column * k + i)]);
                sum += term;
                magnitude += std::abs(term);
            }
            const double bound = 1.001 * static_cast<double>(k + 1) * 0x1p-24 * magnitude;
            const double error = std::abs(static_cast<double>(y[at(row * columns + column)]) - sum);
            worst = std::max(worst, bound > 0 ? error / bound : (error > 0 ? 1e30 : 0.0));
        }
    }
    return worst;
}

template <class Storage>
std::vector<float> multiply(ThreadPool& pool, const float* x, Index rows, Index x_stride,
                            const PackedMatrix<Storage>& weights) {
    Recorder recorder{.rows = rows, .columns = weights.columns()};
    gemm(pool, {x, rows, x_stride}, weights, recorder);
    REQUIRE(recorder.visited_each_once());
    return recorder.first;
}

bool same_bits(const float* a, const float* b, Index count) {
    return std::equal(a, a + count, b, [](float left, float right) {
        return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
    });
}

}  // namespace

TEST_CASE_TEMPLATE("a GEMM agrees with double precision to rounding", Storage, float, BFloat16) {
    struct Size {
        Index rows, columns, k;
    };
    ThreadPool pool(2);
    const Size sizes[] = {{1, 1, 1},     {1, 33, 7},    {1, 160, 273},  {2, 130, 64},   {3, 31, 1700}, {4, 129, 817},
                          {5, 65, 100},  {6, 96, 545},  {7, 40, 1},     {8, 16, 409},   {9, 77, 33},   {10, 5, 300},
                          {11, 64, 299}, {12, 70, 272}, {13, 300, 273}, {14, 3, 256},   {47, 35, 50},  {48, 48, 48},
                          {49, 161, 65}, {97, 50, 600}, {150, 128, 19}, {25, 257, 769}, {1, 8, 4000},  {36, 32, 16}};
    for (const Size& size : sizes) {
        CAPTURE(size.rows);
        CAPTURE(size.columns);
        CAPTURE(size.k);
        const Index x_stride = size.k + size.rows % 3;
        const std::vector<float> x = noise(size.rows * x_stride, 1);
        const std::vector<float> weights = noise(size.columns * size.k, 2);
        const auto packed = PackedMatrix<Storage>::pack(weights.data(), size.columns, size.k);
        const std::vector<float> y = multiply(pool, x.data(), size.rows, x_stride, packed);
        CHECK(error_over_bound<Storage>(y, x, size.rows, x_stride, weights, size.columns, size.k) <= 1.0);
    }
}

TEST_CASE_TEMPLATE("a GEMM of every number of rows up to two blocks agrees with double precision", Storage, float,
                   BFloat16) {
    constexpr Index columns = 3 * panel_width + 1;
    constexpr Index k = 37;
    ThreadPool pool(2);
    const std::vector<float> x = noise(97 * k, 3);
    const std::vector<float> weights = noise(columns * k, 4);
    const auto packed = PackedMatrix<Storage>::pack(weights.data(), columns, k);
    for (Index rows = 1; rows <= 97; ++rows) {
        CAPTURE(rows);
        const std::vector<float> y = multiply(pool, x.data(), rows, k, packed);
        CHECK(error_over_bound<Storage>(y, x, rows, k, weights, columns, k) <= 1.0);
    }
}

TEST_CASE_TEMPLATE("a paired GEMM gives both of each pair, as two plain GEMMs would", Storage, float, BFloat16) {
    ThreadPool pool(2);
    for (const Index columns : {Index{1}, packet_size, packet_size + 1, Index{100}}) {
        for (const Index rows : {1, 2, 9, 50}) {
            CAPTURE(columns);
            CAPTURE(rows);
            constexpr Index k = 301;
            const std::vector<float> x = noise(rows * k, 5);
            const std::vector<float> gate = noise(columns * k, 6);
            const std::vector<float> up = noise(columns * k, 7);
            const auto paired = PackedMatrix<Storage>::pack_pair(gate.data(), up.data(), columns, k);
            CHECK(paired.is_paired());
            CHECK(paired.columns() == columns);
            Recorder recorder{.rows = rows, .columns = columns, .is_paired = true};
            gemm(pool, {x.data(), rows, k}, paired, recorder);
            CHECK(recorder.visited_each_once());
            const auto plain_gate =
                multiply(pool, x.data(), rows, k, PackedMatrix<Storage>::pack(gate.data(), columns, k));
            const auto plain_up = multiply(pool, x.data(), rows, k, PackedMatrix<Storage>::pack(up.data(), columns, k));
            CHECK(same_bits(recorder.first.data(), plain_gate.data(), rows * columns));
            CHECK(same_bits(recorder.second.data(), plain_up.data(), rows * columns));
        }
    }
}

TEST_CASE_TEMPLATE("a row's results are the same bits in any company, at any place, on any number of threads", Storage,
                   float, BFloat16) {
    constexpr Index rows = 101;
    constexpr Index columns = 5 * panel_width + 3;
    constexpr Index k = 850;  // more than one block of inputs, whatever the number of rows
    const std::vector<float> x = noise(rows * k, 8);
    const std::vector<float> weights = noise(columns * k, 9);
    const auto packed = PackedMatrix<Storage>::pack(weights.data(), columns, k);
    ThreadPool alone(1);
    const std::vector<float> expected = multiply(alone, x.data(), rows, k, packed);

    for (const int threads : {2, 3, 5}) {
        CAPTURE(threads);
        ThreadPool pool(threads);
        const std::vector<float> y = multiply(pool, x.data(), rows, k, packed);
        CHECK(same_bits(y.data(), expected.data(), rows * columns));
    }
    for (Index count = 1; count <= 50; ++count) {
        CAPTURE(count);
        const Index first = (count * 7) % (rows - count);
        const std::vector<float> y = multiply(alone, x.data() + first * k, count, k, packed);
        CHECK(same_bits(y.data(), expected.data() + first * columns, count * columns));
    }
}

TEST_CASE_TEMPLATE("a column's results are the same bits in any panel", Storage, float, BFloat16) {
    constexpr Index columns = 3 * panel_width;
    constexpr Index k = 555;
    const std::vector<float> weights = noise(columns * k, 11);
    ThreadPool pool(2);
    for (const Index rows : {1, 2, 3, 5, 13}) {
        CAPTURE(rows);
        const std::vector<float> x = noise(rows * k, 10);
        const std::vector<float> all =
            multiply(pool, x.data(), rows, k, PackedMatrix<Storage>::pack(weights.data(), columns, k));
        for (const Index first : {Index{1}, packet_size, panel_width - 1, panel_width + 2}) {
            CAPTURE(first);
            const Index count = columns - first;
            const auto packed = PackedMatrix<Storage>::pack(weights.data() + first * k, count, k);
            const std::vector<float> some = multiply(pool, x.data(), rows, k, packed);
            for (Index row = 0; row < rows; ++row) {
                CHECK(same_bits(some.data() + row * count, all.data() + row * columns + first, count));
            }
        }
    }
}

TEST_CASE_TEMPLATE("an infinite input spoils its own row only", Storage, float, BFloat16) {
    constexpr Index rows = 20;
    constexpr Index columns = panel_width + 1;
    constexpr Index k = 40;
    ThreadPool pool(2);
    std::vector<float> x = noise(rows * k, 12);
    const std::vector<float> weights = noise(columns * k, 13);
    const auto packed = PackedMatrix<Storage>::pack(weights.data(), columns, k);
    const std::vector<float> clean = multiply(pool, x.data(), rows, k, packed);
    x[at(7 * k + 3)] = std::numeric_limits<float>::infinity();
    const std::vector<float> y = multiply(pool, x.data(), rows, k, packed);
    for (Index row = 0; row < rows; ++row) {
        CAPTURE(row);
        if (row == 7) {
            CHECK(std::none_of(y.begin() + row * columns, y.begin() + (row + 1) * columns,
                               [](float value) { return std::isfinite(value); }));
        } else {
            CHECK(same_bits(y.data() + row * columns, clean.data() + row * columns, columns));
        }
    }
}

TEST_CASE("a GEMM of no rows calls nothing") {
    ThreadPool pool(2);
    const std::vector<float> weights(64, 1.0F);
    Recorder recorder{.rows = 0, .columns = 8};
    gemm(pool, {nullptr, 0, 8}, PackedMatrix<float>::pack(weights.data(), 8, 8), recorder);
    CHECK(recorder.visits.empty());
}

TEST_CASE("a packed matrix says its size and lays its panels out as documented") {
    constexpr Index columns = panel_width + 1;
    constexpr Index k = 3;
    std::vector<float> weights(at(columns * k));
    for (Index column = 0; column < columns; ++column) {
        for (Index i = 0; i < k; ++i) {
            weights[at(column * k + i)] = static_cast<float>(column + 1) + 0.25F * static_cast<float>(i);
        }
    }
    const auto packed = PackedMatrix<float>::pack(weights.data(), columns, k);
    CHECK(packed.columns() == columns);
    CHECK(packed.k() == k);
    CHECK(packed.panels() == 2);
    CHECK(packed.columns_per_panel() == panel_width);
    CHECK_FALSE(packed.is_paired());
    CHECK(packed.bytes() == static_cast<std::size_t>(2 * k * panel_width) * sizeof(float));
    CHECK(packed.panel(0)[1 * panel_width + 1] == 2.25F);
    CHECK(packed.panel(1)[2 * panel_width] == static_cast<float>(columns) + 0.5F);
    CHECK(packed.panel(1)[2 * panel_width + 1] == 0.0F);

    const auto half = PackedMatrix<BFloat16>::pack(weights.data(), columns, k);
    CHECK(half.bytes() * 2 == packed.bytes());
    const std::uint32_t lower = BFloat16(weights[0]).bits;
    const std::uint32_t upper = BFloat16(weights[at(packet_size * k)]).bits;
    CHECK(half.panel(0)[0] == (lower | (upper << 16U)));

    const auto paired = PackedMatrix<float>::pack_pair(weights.data(), weights.data(), columns, k);
    CHECK(paired.panels() == (columns + packet_size - 1) / packet_size);
    CHECK(paired.columns_per_panel() == packet_size);
    CHECK(paired.panel(0)[packet_size] == 1.0F);
}

TEST_CASE("packets widen pairs of bfloat16 exactly") {
    alignas(totograph::buffer_alignment) std::uint32_t words[packet_size];
    alignas(totograph::buffer_alignment) float lower[packet_size];
    alignas(totograph::buffer_alignment) float upper[packet_size];
    for (std::uint32_t bits = 0; bits < 0x10000U; bits += 7) {
        std::fill(words, words + packet_size, bits | ((0xffffU - bits) << 16U));
        totograph::cpu::store(lower, totograph::cpu::lower_bfloat16(totograph::cpu::load_words_aligned(words)));
        totograph::cpu::store_aligned(upper, totograph::cpu::upper_bfloat16(totograph::cpu::load_words_aligned(words)));
        for (Index lane = 0; lane < packet_size; ++lane) {
            REQUIRE(std::bit_cast<std::uint32_t>(lower[lane]) == bits << 16U);
            REQUIRE(std::bit_cast<std::uint32_t>(upper[lane]) == (0xffffU - bits) << 16U);
        }
    }
}
