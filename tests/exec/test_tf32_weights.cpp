// SPDX-License-Identifier: Apache-2.0
// Weights in tiles of tf32: how they are rounded, and where each of them lies.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/host_matmul.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/row_major_weights.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/exec/tf32_weights.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/recorder.hpp>

#include "io/support.hpp"
#include "support/tensor_sources.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// To eleven significant bits, ties away from zero.
float rounded(float value) {
    int exponent = 0;
    const double significand = std::frexp(static_cast<double>(value), &exponent);
    return static_cast<float>(std::ldexp(std::round(significand * 2048.0), exponent - 11));
}

class TensorsOfFile : public MadeUpTensors {
public:
    [[nodiscard]] std::string identity() const override { return "file 1\n"; }
};

/// Takes bytes in pieces.
struct Sink {
    std::vector<std::byte>* bytes;
    std::size_t most;

    std::span<std::byte> room(std::size_t count) const {
        const std::size_t taken = count < most ? count : most;
        bytes->resize(bytes->size() + taken);
        return std::span(*bytes).last(taken);
    }
    static void add(std::size_t) {}
};

/// Two weights of `[n, k]`, which are a pair.
class Pair {
public:
    Pair(Index n, Index k) : n_(n), k_(k) {
        Recorder r;
        r.weight("gate", {n, k});
        r.weight("up", {n, k});
        graph_ = r.take_graph();
        weight.node = 0;
        weight.second_node = 1;
        weight.packed = true;
    }
    [[nodiscard]] GraphView view() const { return GraphView{graph_.nodes}; }
    [[nodiscard]] std::vector<float> values(const std::string& name) const {
        std::vector<float> rows(static_cast<std::size_t>(n_ * k_));
        source.read(name, Shape{n_, k_}, rows);
        return rows;
    }

    PreparedWeight weight;
    TensorsOfFile source;

private:
    Index n_;
    Index k_;
    Graph graph_;
};

}  // namespace

TEST_CASE("tf32: numbers are rounded to the nearest, ties away from zero") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    CHECK(tf32_bits(0.0F) == 0U);
    CHECK(tf32_bits(-0.0F) == 0x80000000U);
    CHECK(tf32_bits(1.0F) == 0x3f800000U);
    CHECK(tf32_bits(std::bit_cast<float>(0x3f801000U)) == 0x3f802000U);  // a tie
    CHECK(tf32_bits(std::bit_cast<float>(0xbf801000U)) == 0xbf802000U);
    CHECK(tf32_bits(std::bit_cast<float>(0x3f800fffU)) == 0x3f800000U);
    CHECK(tf32_bits(std::bit_cast<float>(0x3fffffffU)) == 0x40000000U);  // into the next exponent
    CHECK(tf32_bits(infinity) == 0x7f800000U);
    CHECK(tf32_bits(std::numeric_limits<float>::max()) == 0x7f800000U);
    for (const std::uint32_t nan : {0x7fc00000U, 0x7fffffffU, 0x7f800001U, 0xffffffffU}) {
        CHECK(tf32_bits(std::bit_cast<float>(nan)) == 0x7fc00000U);
    }
    for (std::size_t i = 0; i < 1000; ++i) {
        const float value = MadeUpTensors::value("numbers", i) * std::ldexp(1.0F, static_cast<int>(i % 60) - 30);
        CAPTURE(value);
        CHECK(std::bit_cast<float>(tf32_bits(value)) == rounded(value));
        CHECK((tf32_bits(value) & 0x1fffU) == 0U);
    }
}

TEST_CASE("tf32 tiles: each weight lies with the lane that multiplies it, zeros lie behind the end of k") {
    for (const Index k : {Index{4}, Index{32}, Index{44}, Index{64}}) {
        CAPTURE(k);
        const auto columns = static_cast<std::size_t>(Tf32Tile::columns);
        std::vector<float> rows(columns * static_cast<std::size_t>(k));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = MadeUpTensors::value("w", i);
        }
        for (Index tile = 0; tile < Tf32Tile::tiles_of(k); ++tile) {
            Tf32Tile stored;
            stored.store(rows.data(), tile * Tf32Tile::k, k);
            for (std::size_t lane = 0; lane < Tf32Tile::lanes; ++lane) {
                for (std::size_t i = 0; i < static_cast<std::size_t>(Tf32Tile::lane_k); ++i) {
                    const auto at = static_cast<std::size_t>(tile * Tf32Tile::k) + lane % 4 * 8 + i;
                    const bool exists = at < static_cast<std::size_t>(k);
                    const std::size_t place = lane / 4 * static_cast<std::size_t>(k) + at;
                    CHECK(stored.bits(lane, i) == (exists ? tf32_bits(rows[place]) : 0U));
                }
            }
        }
    }
    CHECK(Tf32Tile::bytes_of(16, 33) == 2 * 2 * sizeof(Tf32Tile));
    CHECK(tf32_tiles_bytes(Shape{16, 32}, true) == 4 * sizeof(Tf32Tile));
}

TEST_CASE("tf32 tiles: a pair goes to a sink in pieces, on several threads, and into the cache and out of it") {
    constexpr Index n = 208;
    constexpr Index k = 200;
    const Pair pair(n, k);
    const std::size_t bytes = tf32_tiles_bytes(Shape{n, k}, true);

    std::vector<Tf32Tile> expected;
    for (const char* name : {"gate", "up"}) {
        const std::vector<float> rows = pair.values(name);
        for (Index band = 0; band < n / Tf32Tile::columns; ++band) {
            for (Index tile = 0; tile < Tf32Tile::tiles_of(k); ++tile) {
                expected.emplace_back().store(rows.data() + band * Tf32Tile::columns * k, tile * Tf32Tile::k, k);
            }
        }
    }
    REQUIRE(bytes == expected.size() * sizeof(Tf32Tile));

    const ScratchFolder scratch;
    for (const std::size_t hits : {0U, 1U}) {
        for (const int threads : {1, 3}) {
            Team team(threads);
            cpu::WeightEvaluator evaluator(pair.view(), pair.source, &team);
            PreparedCache none;
            PreparedCache kept({scratch.path(), {}}, pair.source, "tf32 tiles");
            for (PreparedCache* const cache : {&none, &kept}) {
                std::vector<std::byte> found;
                write_tf32_tiles(pair.view(), pair.weight, evaluator, WeightExpression(pair.view(), pair.weight),
                                 *cache, Sink{&found, 1000});
                REQUIRE(found.size() == bytes);
                CHECK(std::memcmp(found.data(), expected.data(), bytes) == 0);
            }
            CHECK(kept.report().hits == (threads == 1 ? hits : 1U));
            CHECK(none.report().hits == 0U);
        }
    }
}

TEST_CASE("tf32 rows: as rows of f32, each number rounded") {
    constexpr Index n = 208;
    constexpr Index k = 400;
    const Pair pair(n, k);
    std::vector<float> expected;
    for (const char* name : {"gate", "up"}) {
        for (const float value : pair.values(name)) {
            expected.push_back(rounded(value));
        }
    }
    const ScratchFolder scratch;
    for (const std::size_t hits : {0U, 1U}) {
        Team team(2);
        cpu::WeightEvaluator evaluator(pair.view(), pair.source, &team);
        PreparedCache kept({scratch.path(), {}}, pair.source, "tf32 rows");
        std::vector<std::byte> found;
        write_row_major<Tf32>(pair.view(), pair.weight, evaluator, WeightExpression(pair.view(), pair.weight), kept,
                              Sink{&found, 10000});
        REQUIRE(found.size() == expected.size() * sizeof(float));
        CHECK(std::memcmp(found.data(), expected.data(), found.size()) == 0);
        CHECK(kept.report().hits == hits);
    }
}
