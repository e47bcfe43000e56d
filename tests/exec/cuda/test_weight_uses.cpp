// SPDX-License-Identifier: Apache-2.0
// In which layouts programs read their weights, and what these take. No device is needed, and no CUDA.
#include <algorithm>
#include <array>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/explain/explain_words.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/weight_uses.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/exec/weight_layout.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/graph/unroll.hpp>

#include "exec/cuda/loop_models.hpp"
#include "exec/cuda/weight_models.hpp"

using namespace totograph;
using namespace totograph::cuda;

namespace {

using weight_models::FewAndMany;
using weight_models::k;
using weight_models::n;

/// Two of its weights, of few rows alone.
struct Few {
    static constexpr void record(Recorder& r) {
        const Tensor few = r.state("few", {8, k});
        r.store(r.state("a", {8, n}), linear(few, r.weight("of_few", {n, k})));
        r.store(r.state("c", {8, n}), linear(few, r.weight("of_many", {n, k})));
    }
};

/// One GEMM of which blocks of clusters share k in tf32.
struct LongK {
    static constexpr Index k = 5464;
    static constexpr Index n = 64;
    static constexpr void record(Recorder& r) {
        r.store(r.state("y", {18, n}), linear(r.state("x", {18, k}), r.weight("w", {n, k})));
    }
};

template <Precision precision>
struct Layouts {
    using Chosen = LoweredProgram<Program<FewAndMany>, precision == Precision::bf16>;
    static constexpr auto uses = weight_uses<Chosen, precision>;
    static constexpr auto count(WeightLayout layout) {
        return std::count_if(uses.begin(), uses.end(), [&](const WeightUses& use) { return use.has(layout); });
    }
};

constexpr std::size_t rows_in_f32 = n * k * sizeof(float);
constexpr std::size_t bias_bytes = n * sizeof(float);
constexpr std::size_t tiles = n / 8 * 2 * sizeof(Tf32Tile);  // k of 40 takes two tiles

}  // namespace

TEST_CASE("weights of few rows lie in tiles in tf32 alone, and in rows as well where many rows read them") {
    CHECK(Layouts<Precision::bf16>::count(WeightLayout::tf32_tiles) == 0);
    CHECK(Layouts<Precision::f32>::count(WeightLayout::tf32_tiles) == 0);
    CHECK(Layouts<Precision::f32>::count(WeightLayout::tf32_rows) == 0);
    CHECK(Layouts<Precision::f32>::count(WeightLayout::rows) == 4);
    CHECK(Layouts<Precision::tf32>::count(WeightLayout::tf32_tiles) == 2);
    CHECK(Layouts<Precision::tf32>::count(WeightLayout::tf32_rows) == 2);
    CHECK(Layouts<Precision::tf32>::count(WeightLayout::rows) == 1);  // the bias
}

TEST_CASE("bytes of weights are those of the layouts in which programs read them") {
    using Both = LoweredProgram<Program<FewAndMany>, false>;
    using Alone = LoweredProgram<Program<Few>, false>;
    CHECK(weight_bytes<Both, Precision::f32>() == 3 * rows_in_f32 + bias_bytes);
    CHECK(weight_bytes<Both, Precision::tf32>() == 2 * rows_in_f32 + 2 * tiles + bias_bytes);
    CHECK(weight_bytes<Alone, Precision::tf32>() == 2 * tiles);
    CHECK(weight_bytes<LoweredProgram<Program<Few>, true>, Precision::bf16>() == rows_in_f32);

    // Of several programs a weight is there once in each layout, in whole blocks.
    const auto together = [](auto... add) {
        DistinctWeights weights;
        (add(weights), ...);
        return weights.bytes();
    };
    const auto both = [](DistinctWeights& weights) { add_weights<Both, Precision::tf32>(weights, 256); };
    const auto alone = [](DistinctWeights& weights) { add_weights<Alone, Precision::tf32>(weights, 256); };
    constexpr std::size_t block = 256;
    static_assert(tiles % block == 0 && rows_in_f32 % block == 0 && bias_bytes < block);
    CHECK(together(both) == 2 * rows_in_f32 + 2 * tiles + block);
    CHECK(together(both, both) == together(both));
    CHECK(together(both, alone) == together(both) + tiles);
}

TEST_CASE("a weight of which clusters share k lies in tiles on the devices that have them") {
    using Chosen = LoweredProgram<Program<LongK>, false>;
    const auto layouts = []<Precision precision>(const DeviceTraits& device, const Execution& execution = {}) {
        const WeightUses use = find_weight_uses<Chosen, precision>(device, execution).at(0);
        return std::array{use.has(WeightLayout::rows), use.has(WeightLayout::tf32_rows),
                          use.has(WeightLayout::tf32_tiles)};
    };
    constexpr std::array in_tiles{false, false, true};
    constexpr std::array in_tf32_rows{false, true, false};
    CHECK(layouts.operator()<Precision::tf32>(traits_of(90)) == in_tiles);
    CHECK(layouts.operator()<Precision::tf32>(traits_of(90), {.fuses = false}) == in_tf32_rows);
    CHECK(layouts.operator()<Precision::tf32>(traits_of(89)) == in_tf32_rows);
    CHECK(layouts.operator()<Precision::f32>(traits_of(90)) == std::array{true, false, false});
    constexpr std::size_t tiles_of_long = Tf32Tile::bytes_of(LongK::n, LongK::k);
    constexpr std::size_t rows_of_long = LongK::n * LongK::k * sizeof(float);
    CHECK(weight_bytes<Chosen, Precision::tf32>() == tiles_of_long);
    CHECK(weight_bytes<Chosen, Precision::tf32>(traits_of(89)) == rows_of_long);
    const auto list = [](const DeviceTraits& device) {
        return explain_detail::LaunchList::of<Program<LongK>, Precision::tf32>(device, Execution{});
    };
    CHECK(list(traits_of(89)).facts().bytes_read - list(traits_of(90)).facts().bytes_read ==
          static_cast<Index>(rows_of_long - tiles_of_long));
    CHECK(list(traits_of(90)).weight_bytes() == tiles_of_long);
}

TEST_CASE("weights of a loop are counted for all of its iterations") {
    using Layers = LoweredProgram<Program<loop_models::Stack<12, 8>>, false>;
    // The scales of norms are folded into weights; two biases are left.
    constexpr std::size_t of_layer = 4 * Tf32Tile::bytes_of(512, 512) + 2 * 512 * sizeof(float);
    CHECK(weight_bytes<Layers, Precision::tf32>() == 12 * of_layer);
    CHECK(weight_bytes<Layers, Precision::f32>() == weight_bytes(short_tables_of<Layers>()));
}

TEST_CASE("explain counts the bytes of tiles that are read") {
    const auto facts = []<Precision precision>() {
        return explain_detail::LaunchList::of<Program<Few>, precision>(compiled_for, Execution{});
    };
    const auto in_f32 = facts.operator()<Precision::f32>();
    const auto in_tf32 = facts.operator()<Precision::tf32>();
    const auto fewer = static_cast<Index>(2 * (rows_in_f32 - tiles));
    CHECK(in_f32.facts().bytes_read - in_tf32.facts().bytes_read == fewer);
    CHECK(static_cast<Index>(in_f32.weight_bytes() - in_tf32.weight_bytes()) == fewer);
}
