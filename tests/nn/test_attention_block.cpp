// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/rows.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index batch = 2;
constexpr Index variates = 3;
constexpr Index positions = 4;
constexpr Index width = 6;
constexpr nn::AttentionSize size{.width = width, .heads = 4, .kv_heads = 2, .head_dim = 3, .value_dim = 5};
constexpr Index queries = size.query_width();
constexpr Index keys = size.key_width();

struct Model {
    static constexpr Shape rows_of(Index columns) { return {batch, 1, variates, positions, columns}; }

    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", rows_of(width));
        const nn::StackedProjections<size> projections{.stacked = {r, "stacked"_name},
                                                       .query_scale = r.weight("scale", {size.head_dim})};
        const nn::QueryKeyValue all = projections.record(x);
        r.store(r.state("out.query", rows_of(queries)), all.query);
        r.store(r.state("out.key", rows_of(keys)), all.key);
        r.store(r.state("out.value", rows_of(size.value_width())), all.value);

        const Tensor first = r.state("first", {batch}, DType::i32);
        r.store(r.state("out.rows", {batch, 1, variates, 2, width}), nn::rows_from(x, first, 2));
    }
};
static_assert(queries == 12 && keys == 6 && size.value_width() == 10);

const auto prepare = [](auto& executor) {
    state_of<std::int32_t>(executor, "first")[0] = 2;
    state_of<std::int32_t>(executor, "first")[1] = 1;
};

}  // namespace

TEST_CASE("queries, keys and values from one weight, in that order, and a scale of queries by dimension") {
    run_on_both<Model>([](auto&) {},
                       [](auto& executor) {
                           const auto x = state_of<float>(executor, "x");
                           const auto projected = [&](Index row, Index unit) {
                               double sum = weight("stacked.bias", unit);
                               for (Index k = 0; k < width; ++k) {
                                   sum += static_cast<double>(x[static_cast<std::size_t>(row * width + k)]) *
                                          weight("stacked.weight", unit * width + k);
                               }
                               return sum;
                           };
                           const auto check = [&](const char* name, Index first, Index count, const auto& factor) {
                               const auto out = state_of<float>(executor, name);
                               for (Index row = 0; row < batch * variates * positions; ++row) {
                                   for (Index column = 0; column < count; ++column) {
                                       CHECK(out[static_cast<std::size_t>(row * count + column)] ==
                                             near(projected(row, first + column) * factor(column)));
                                   }
                               }
                           };
                           const auto one = [](Index) { return 1.0; };
                           check("out.query", 0, queries,
                                 [](Index column) { return weight("scale", column % size.head_dim); });
                           check("out.key", queries, keys, one);
                           check("out.value", queries + keys, size.value_width(), one);
                       });
}

TEST_CASE("rows of each series from a position of its own") {
    run_on_both<Model>(prepare, [](auto& executor) {
        const auto x = state_of<float>(executor, "x");
        const auto out = state_of<float>(executor, "out.rows");
        for (Index row = 0; row < batch * variates; ++row) {
            const Index first = row < variates ? 2 : 1;
            for (Index at = 0; at < 2 * width; ++at) {
                CHECK(out[static_cast<std::size_t>(row * 2 * width + at)] ==
                      x[static_cast<std::size_t>((row * positions + first) * width + at)]);
            }
        }
    });
}

TEST_CASE("rows are taken of one sample") {
    Recorder r;
    (void)nn::rows_from(r.state("x", {2, 3, 4}), r.constant(0, DType::i32), 1);
    CHECK(r.graph().error.kind == ModelErrorKind::axis_out_of_range);
    Recorder other;
    (void)nn::rows_at(other.state("x", {2, 3, 4}), other.constant(0, DType::i32));
    CHECK(other.graph().error.kind == ModelErrorKind::axis_out_of_range);
}
