// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/partial_rotary.hpp>
#include <totograph/nn/rotary.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index positions = 7;
constexpr Index heads = 2;
constexpr Index head_dim = 6;
constexpr Index width = heads * head_dim;
constexpr nn::RotaryConfig config{.theta = 100, .xpos_scale_base = 16};
constexpr nn::PartialRotarySize partial{.head_dim = head_dim, .rotated = 4, .theta = 100, .xpos_scale_base = 16};

struct Model {
    static constexpr void record(Recorder& r) {
        const Tensor counted = reshape(r.iota(positions), {1, 1, 1, positions, 1, 1});
        const Tensor centre = r.state("centre", {2, 1, 1, 1, 1, 1});
        const auto tables = nn::rotary_tables(counted, centre, head_dim, config);
        const Shape shape{2, 1, 3, positions, width};
        const Tensor x = r.state("x", shape);
        r.store(r.state("out.query", shape), nn::rotate(x, tables.query_cosine, tables.query_sine));
        r.store(r.state("out.key", shape), nn::rotate(x, tables.key_cosine, tables.key_sine));

        const auto part = nn::partial_rotary_tables<partial>(counted, centre);
        r.store(r.state("out.part.query", shape), nn::rotate(x, part.query_cosine, part.query_sine));
        r.store(r.state("out.part.key", shape), nn::rotate(x, part.key_cosine, part.key_sine));
        constexpr nn::PartialRotarySize whole{.head_dim = head_dim, .rotated = head_dim, .use_xpos = false};
        const auto plain = nn::partial_rotary_tables<whole>(counted, centre);
        r.store(r.state("out.plain", shape), nn::rotate(x, plain.key_cosine, plain.key_sine));
    }
};

/// One number of a rotated row: frequencies by pairs of neighbours, scales by place in the half.
template <class Row>
double rotated(const Row& row, Index column, double position, double centre, double sign) {
    const Index in_head = column % head_dim;
    const double frequency = std::pow(config.theta, -2.0 * std::floor(static_cast<double>(in_head) / 2.0) / head_dim);
    const double base = (2.0 * static_cast<double>(in_head % (head_dim / 2)) + 0.4 * head_dim) / (1.4 * head_dim);
    const double scale = std::pow(base, sign * (position - centre) / config.xpos_scale_base);
    const double turned = in_head % 2 == 0 ? -row(column + 1) : row(column - 1);
    return (row(column) * std::cos(position * frequency) + turned * std::sin(position * frequency)) * scale;
}

/// The same of the first dimensions of each head: frequencies and scales by pairs.
template <class Row>
double partly_rotated(const Row& row, Index column, double position, double centre, double sign) {
    const Index in_head = column % head_dim;
    if (in_head >= partial.rotated) {
        return row(column);
    }
    const double place = 2.0 * std::floor(static_cast<double>(in_head) / 2.0);
    const double angle = position * std::pow(partial.theta, -place / partial.rotated);
    const double base = (place + 0.4 * partial.rotated) / (1.4 * partial.rotated);
    const double scale = std::pow(base, sign * (position - centre) / partial.xpos_scale_base);
    const double turned = in_head % 2 == 0 ? -row(column + 1) : row(column - 1);
    return (row(column) * std::cos(angle) + turned * std::sin(angle)) * scale;
}

}  // namespace

TEST_CASE("rotary embeddings of queries and keys: with scales, of a part of each head, and plain") {
    run_on_both<Model>(
        [](auto& executor) {
            const auto centre = state_of<float>(executor, "centre");
            centre[0] = 3;
            centre[1] = 5;
        },
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            const auto queries = state_of<float>(executor, "out.query");
            const auto keys = state_of<float>(executor, "out.key");
            const auto part_queries = state_of<float>(executor, "out.part.query");
            const auto part_keys = state_of<float>(executor, "out.part.key");
            const auto plain = state_of<float>(executor, "out.plain");
            for (Index row = 0; row < 2 * 3 * positions; ++row) {
                const auto position = static_cast<double>(row % positions);
                const double centre = row < 3 * positions ? 3 : 5;
                const auto at = [&](Index column) {
                    return static_cast<double>(x[static_cast<std::size_t>(row * width + column)]);
                };
                for (Index column = 0; column < width; ++column) {
                    const auto place = static_cast<std::size_t>(row * width + column);
                    CHECK(queries[place] == near(rotated(at, column, position, centre, 1)));
                    CHECK(keys[place] == near(rotated(at, column, position, centre, -1)));
                    CHECK(part_queries[place] == near(partly_rotated(at, column, position, centre, 1)));
                    CHECK(part_keys[place] == near(partly_rotated(at, column, position, centre, -1)));
                    const Index pair = column % head_dim / 2;
                    const double angle = position * std::pow(10000.0, -2.0 * static_cast<double>(pair) / head_dim);
                    const double turned = column % 2 == 0 ? -at(column + 1) : at(column - 1);
                    CHECK(plain[place] == near(at(column) * std::cos(angle) + turned * std::sin(angle)));
                }
            }
        });
}

TEST_CASE("a width of pairs alone can be rotated") {
    Recorder r;
    const auto tables = nn::rotary_tables(r.constant(1), r.constant(0), 5);
    CHECK(r.graph().error.kind == ModelErrorKind::odd_rotary_width);
    CHECK(tables.query_cosine.id() == tables.key_sine.id());
}
