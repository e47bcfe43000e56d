// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/half_split.hpp>
#include <totograph/nn/padded_heads.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index heads = 2;
constexpr Index head_dim = 28;
constexpr Index padded = 32;
constexpr Index in = 3;

static_assert(nn::padded_head_dim(52) == 64);
static_assert(nn::padded_head_dim(208) == 256);
static_assert(nn::padded_head_dim(head_dim) == padded);
static_assert(nn::padded_head_dim(64) == 64, "What fills tiles stays as it is.");
static_assert(nn::padded_head_dim(48) == 48, "A third more work is too much.");
static_assert(nn::padded_head_dim(8) == 8);
static_assert(nn::pad_heads({.width = 104, .heads = 2}).dim() == 64);
static_assert(nn::pad_heads({.width = 104, .heads = 2}).width == 104);

struct Model {
    static constexpr void record(Recorder& r) {
        r.store(r.state("rows", {heads * padded, in}), nn::pad_head_rows(r.weight("w", {heads * head_dim, in}), heads));
        r.store(r.state("bias", {heads * padded}), nn::pad_head_rows(r.weight("b", {heads * head_dim}), heads));
        r.store(r.state("columns", {in, heads * padded}),
                nn::pad_head_columns(r.weight("o", {in, heads * head_dim}), heads));
        r.store(r.state("as_it_is", {heads * 8, in}), nn::pad_head_rows(r.weight("n", {heads * 8, in}), heads));
    }
};

}  // namespace

TEST_CASE("padded heads: heads divide what is padded") {
    const auto mistake_of = [](const auto& record) {
        Recorder r;
        CHECK(record(r.weight("w", {61, 61})).shape() == Shape{61, 61});
        return r.graph().error;
    };
    for (const Index wrong : {0, 2, -1}) {
        CAPTURE(wrong);
        for (const ModelError& mistake :
             {mistake_of([&](Tensor rows) { return nn::pad_head_rows(rows, wrong); }),
              mistake_of([&](Tensor columns) { return nn::pad_head_columns(columns, wrong); }),
              mistake_of([&](Tensor rows) { return nn::interleave_halves(rows, wrong); })}) {
            CHECK(mistake.kind == ModelErrorKind::heads_do_not_divide);
        }
    }
    CHECK(mistake_of([](Tensor rows) { return nn::pad_head_rows(rows, 2); }).message() ==
          "pad_head_rows: axis 0 of shape [61, 61] does not divide into 2 heads");
}

TEST_CASE("padded heads: rows and columns of zeros follow those of each head") {
    run_on_both<Model>([](auto&) {},
                       [](auto& executor) {
                           const auto rows = state_of<float>(executor, "rows");
                           const auto bias = state_of<float>(executor, "bias");
                           const auto columns = state_of<float>(executor, "columns");
                           for (Index head = 0; head < heads; ++head) {
                               for (Index d = 0; d < padded; ++d) {
                                   const Index to = head * padded + d;
                                   const Index from = head * head_dim + d;
                                   CAPTURE(to);
                                   const bool is_padding = d >= head_dim;
                                   CHECK(bias[static_cast<std::size_t>(to)] == (is_padding ? 0.0F : weight("b", from)));
                                   for (Index k = 0; k < in; ++k) {
                                       CHECK(rows[static_cast<std::size_t>(to * in + k)] ==
                                             (is_padding ? 0.0F : weight("w", from * in + k)));
                                       CHECK(columns[static_cast<std::size_t>(k * heads * padded + to)] ==
                                             (is_padding ? 0.0F : weight("o", k * heads * head_dim + from)));
                                   }
                               }
                           }
                           const auto as_it_is = state_of<float>(executor, "as_it_is");
                           for (Index i = 0; i < heads * 8 * in; ++i) {
                               CHECK(as_it_is[static_cast<std::size_t>(i)] == weight("n", i));
                           }
                       });
}
