// SPDX-License-Identifier: Apache-2.0
// Which GEMMs of few rows leave their result as bf16 to the launch behind. No device is needed, and no CUDA.
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

#include "exec/cuda/loop_models.hpp"

using namespace totograph;
using namespace totograph::cuda;

namespace {

constexpr Index width = 64;
constexpr Index fewest = compiled_thresholds.skinny_least_m_to_leave_bf16;

constexpr Tensor norm(Tensor x) {
    return x * rsqrt(mean(x * x) + 1e-5);
}

enum class Reader {
    norm,         ///< A norm and a GEMM of all that was made.
    other_steps,  ///< The same, behind a step with a launch of its own.
    gemm,         ///< A GEMM of it, beside what keeps it as f32.
    part,         ///< A norm and a GEMM of its first columns.
    many_rows,    ///< A norm and a GEMM that reads two rows as one.
};

/// A GEMM that adds to a stream, and who reads the sum next.
template <Index rows, Reader reader>
struct AddsToStream {
    static constexpr void record(Recorder& r) {
        const auto project = [&](Tensor x, const char* name, Index columns) {
            return linear(x, r.weight(name, {columns, x.extent(-1)}));
        };
        const Tensor hidden = tanh(project(r.state("x", {rows, width}), "up", 2 * width));
        const Tensor sum = r.state("stream", {rows, width}) + project(hidden, "down", width);
        if (reader == Reader::other_steps) {
            r.store(r.state("copy", {400, 400}), r.state("large", {400, 400}) * 2.0);
        }
        const Tensor read = reader == Reader::part        ? slice(sum, 1, 0, width / 2)
                            : reader == Reader::many_rows ? reshape(sum, {rows / 2, 2 * width})
                                                          : sum;
        const Tensor result = project(reader == Reader::gemm ? read : norm(read), "next", width);
        r.store(r.state("y", result.shape()), tanh(result));
        r.store(r.state("z", {rows, width}), sum);
    }
};

/// Layers of one GEMM that adds to the stream, after a norm or without one; in a loop or not. Each could take what the
/// one before leaves, and leave its own there.
template <bool has_norm, bool is_loop>
struct LayersOfOneGemm {
    static constexpr void record(Recorder& r) {
        const auto layer = [&](Tensor x, LayerIndex number) {
            const Tensor added = linear(has_norm ? norm(x) : x, r.weight("layers.{}.w", {width, width}, number));
            return x + (has_norm ? added : tanh(added));
        };
        Tensor x = r.state("x", {8, width});
        if (is_loop) {
            x = repeat(13, x, layer);
        } else {
            for (int i = 0; i < 4; ++i) {
                x = layer(x, i);
            }
        }
        r.store(r.state("y", {8, width}), linear(norm(x), r.weight("last", {width, width})));
    }
};

template <class Model>
constexpr bool any_takes_and_leaves() {
    using Launches = Lowering<LoweredProgram<Program<Model>, true>, true>;
    bool any = false;
    for (std::size_t i = 0; i < Launches::count; ++i) {
        any = any || (Launches::at(i).takes_bf16 && Launches::at(i).leaves_bf16);
    }
    return any;
}

/// The number of the GEMM that leaves its result, where the launch behind it, and no other one, takes that; -1 where
/// none does.
template <class Model, bool streams = true>
constexpr int leaving() {
    using Launches = Lowering<Program<Model>, streams>;
    int found = -1;
    for (std::size_t i = 0; i < Launches::count; ++i) {
        const bool is_left = i > 0 && Launches::at(i - 1).leaves_bf16;
        if (Launches::at(i).takes_bf16 != is_left) {
            return -2;
        }
        found = is_left ? static_cast<int>(i) - 1 : found;
    }
    return found;
}

}  // namespace

TEST_CASE("a GEMM of few rows in bf16 leaves its result to the next launch, which multiplies all of it") {
    CHECK(leaving<AddsToStream<fewest, Reader::norm>>() == 1);
    CHECK(leaving<AddsToStream<SkinnyTile::m, Reader::norm>>() == 1);
    CHECK(leaving<AddsToStream<SkinnyTile::m + 1, Reader::norm>>() == 1);
    CHECK(leaving<AddsToStream<8, Reader::gemm>>() == 1);
}

TEST_CASE("a GEMM of few rows leaves nothing where that does not pay, or is not what the next launch multiplies") {
    CHECK(leaving<AddsToStream<fewest - 1, Reader::norm>>() == -1);
    CHECK(leaving<AddsToStream<8, Reader::norm>, false>() == -1);
    CHECK(leaving<AddsToStream<8, Reader::other_steps>>() == -1);
    CHECK(leaving<AddsToStream<8, Reader::part>>() == -1);
    CHECK(leaving<AddsToStream<8, Reader::many_rows>>() == -1);
    // Of more rows there are tiles, which leave the norm's sums, too.
    CHECK(leaving<AddsToStream<200, Reader::norm>>() == -1);
}

TEST_CASE("no GEMM writes where its other blocks still read") {
    CHECK_FALSE(any_takes_and_leaves<LayersOfOneGemm<false, false>>());
    CHECK_FALSE(any_takes_and_leaves<LayersOfOneGemm<true, false>>());
    CHECK_FALSE(any_takes_and_leaves<LayersOfOneGemm<false, true>>());
    CHECK_FALSE(any_takes_and_leaves<LayersOfOneGemm<true, true>>());
    CHECK_FALSE(any_takes_and_leaves<loop_models::Stack<12, 8>>());
}

TEST_CASE("the last GEMM of a loop leaves its result in all iterations, and the first layer takes none") {
    using Loop = Program<loop_models::Stack<12, 8>>;
    using Launches = Lowering<Loop, true>;
    const LoopPart& part = Launches::loops[0].steps;
    REQUIRE(part.count > 1);
    const auto at = [](int launch) -> const Launch& { return Launches::at(static_cast<std::size_t>(launch)); };
    CHECK_FALSE(at(0).takes_bf16);
    CHECK(at(part.first).takes_bf16);
    CHECK(at(part.first - 1).leaves_bf16);
    CHECK(at(part.first + part.count - 1).leaves_bf16);
    CHECK(at(static_cast<int>(Launches::count) - 1).leaves_bf16);  // the same kernel, though nothing is behind it
}
