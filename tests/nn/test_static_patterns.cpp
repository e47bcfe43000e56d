// SPDX-License-Identifier: Apache-2.0
// The two patterns of docs/write_your_own_block.md that replace data-dependent shapes and branches, as they are written
// there, on both executors against loops that say what they mean.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/rotary.hpp>

#include "support/executors.hpp"

namespace tg = totograph;
using namespace totograph::test;

namespace {

/// x with the i-th row where `mask` is 1 replaced by the i-th of `rows`; the last one repeats when there are too few.
/// x is [count, width], mask f32 [count], rows [candidates, width].
constexpr tg::Tensor replace_rows(tg::Tensor x, tg::Tensor mask, tg::Tensor rows) {
    const tg::Index count = x.extent(0);
    const tg::Index candidates = rows.extent(0);
    const tg::Index width = rows.extent(1);
    const tg::Tensor nth = cumsum(mask) - 1.0;
    const tg::Tensor inside = minimum(maximum(nth, 0.0), static_cast<double>(candidates - 1));
    const tg::Tensor spread = expand(reshape(rows, {1, candidates, width}), {count, candidates, width});
    const tg::Tensor own = reshape(take(spread, 1, cast(inside, tg::DType::i32)), x.shape());
    return where(reshape(mask, {count, 1}), own, x);
}

constexpr std::size_t row_count = 6;
constexpr std::size_t candidate_count = 3;
constexpr std::size_t row_width = 4;

struct Replacement {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor x = r.state("input", {6, 4});
        r.store(r.state("output", {6, 4}), replace_rows(x, r.state("mask", {6}), r.state("rows", {3, 4})));
    }
};

/// The head of the guide's second pattern: positions are stretched when the series is long.
struct Stretched {
    static constexpr tg::Index positions = 64;
    static constexpr tg::Index head_dim = 16;
    static constexpr tg::Index width = 4 * head_dim;

    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor length = cast(r.state("length", {1}, tg::DType::i32), tg::DType::f32);
        const tg::Tensor stretch = where(less(length, 512.0), r.constant(1.0), r.constant(0.25));
        const tg::Tensor scale = reshape(stretch, {1, 1, 1, 1, 1, 1});
        const tg::Tensor at = reshape(r.iota(positions), {1, 1, 1, positions, 1, 1}) * scale;
        const tg::Tensor centre = scale * static_cast<double>(positions / 2);
        const auto tables = tg::nn::rotary_tables(at, centre, head_dim);
        const tg::Tensor x = r.state("input", {1, 1, 2, positions, 4 * head_dim});
        const tg::Tensor y = tg::nn::rotate(x, tables.query_cosine, tables.query_sine);
        r.store(r.state("output", y.shape()), y);
    }
};

}  // namespace

TEST_CASE("masked rows are replaced in order, as a loop would") {
    std::array<float, row_count> mask{};
    SUBCASE("some") {
        mask = {0, 1, 0, 0, 1, 0};
    }
    SUBCASE("none") {
        mask = {0, 0, 0, 0, 0, 0};
    }
    SUBCASE("as many as there are replacements") {
        mask = {1, 1, 1, 0, 0, 0};
    }
    SUBCASE("more than there are replacements") {
        mask = {1, 1, 0, 1, 1, 1};
    }
    run_on_both<Replacement>(
        [&](auto& executor) { std::copy(mask.begin(), mask.end(), state_of<float>(executor, "mask").begin()); },
        [&](auto& executor) {
            const auto input = state_of<float>(executor, "input");
            const auto rows = state_of<float>(executor, "rows");
            const auto output = state_of<float>(executor, "output");
            std::size_t replaced = 0;
            for (std::size_t row = 0; row < row_count; ++row) {
                const std::size_t candidate = std::min(replaced, candidate_count - 1);
                for (std::size_t column = 0; column < row_width; ++column) {
                    CAPTURE(row);
                    CAPTURE(column);
                    CHECK(output[row * row_width + column] ==
                          (mask[row] != 0 ? rows[candidate * row_width + column] : input[row * row_width + column]));
                }
                replaced += mask[row] != 0 ? 1 : 0;
            }
        });
}

TEST_CASE("the scale of a rotary embedding is chosen by a length that is data") {
    std::int32_t length = 0;
    double scale = 1;
    SUBCASE("below the threshold") {
        length = 511;
        scale = 1;
    }
    SUBCASE("at the threshold") {
        length = 512;
        scale = 0.25;
    }
    run_on_both<Stretched>(
        [&](auto& executor) { state_of<std::int32_t>(executor, "length")[0] = length; },
        [&](auto& executor) {
            const auto input = state_of<float>(executor, "input");
            const auto output = state_of<float>(executor, "output");
            constexpr tg::nn::RotaryConfig config{};
            constexpr auto head = static_cast<double>(Stretched::head_dim);
            const double centre = scale * static_cast<double>(Stretched::positions) / 2;
            for (std::size_t at = 0; at < input.size(); ++at) {
                const auto column = static_cast<tg::Index>(at) % Stretched::head_dim;
                const auto row = static_cast<tg::Index>(at) / Stretched::width;
                const double position = scale * static_cast<double>(row % Stretched::positions);
                const double frequency =
                    std::pow(config.theta, -2.0 * std::floor(static_cast<double>(column) / 2.0) / head);
                const double base =
                    (2.0 * static_cast<double>(column % (Stretched::head_dim / 2)) + 0.4 * head) / (1.4 * head);
                const double grown = std::pow(base, (position - centre) / config.xpos_scale_base);
                const double other =
                    column % 2 == 0 ? -static_cast<double>(input[at + 1]) : static_cast<double>(input[at - 1]);
                const double expected = (static_cast<double>(input[at]) * std::cos(position * frequency) +
                                         other * std::sin(position * frequency)) *
                                        grown;
                CAPTURE(at);
                CHECK(output[at] == near(expected));
            }
        });
}
