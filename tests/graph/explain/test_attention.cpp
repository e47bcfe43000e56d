// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <totograph/graph/attention.hpp>
#include <totograph/graph/explain/attention.hpp>

using namespace totograph;
using totograph::detail::attention_text;

TEST_CASE("an attention tells its attributes") {
    AttentionDescription attention{
        .heads = 12, .kv_heads = 12, .head_dim = 64, .value_dim = 64, .scale = usual_attention_scale(64)};
    CHECK(attention_text(attention, 4) == "attention of 12 heads of 64, not causal");
    attention.is_causal = true;
    CHECK(attention_text(attention, 4) == "attention of 12 heads of 64, causal");
    attention.queries = QueryPlaces::last;
    CHECK(attention_text(attention, 4) == "attention of 12 heads of 64, causal, against a cache");
    attention.has_suffix = true;
    CHECK(attention_text(attention, 1) == "attention of 12 heads of 64, against a cache and a suffix");
    attention.mask = KeyMask::by_key;
    CHECK(attention_text(attention, 4) == "attention of 12 heads of 64, causal, against a cache and a suffix, by key");

    AttentionDescription grouped{.heads = 8,
                                 .kv_heads = 2,
                                 .head_dim = 52,
                                 .value_dim = 20,
                                 .scale = 0.0625,
                                 .axis = AttentionAxis::variates,
                                 .mask = KeyMask::by_group};
    CHECK(attention_text(grouped, 4) == "attention of 8 heads of 52 to 20 on 2, scale 0.0625, over variates, by group");
    grouped.heads = 1;
    grouped.kv_heads = 1;
    grouped.scale_is_data = true;
    CHECK(attention_text(grouped, 4) == "attention of 1 head of 52 to 20, scale from data, over variates, by group");
}

TEST_CASE("the usual scale is 1 / sqrt(head_dim), to the bit where that is a power of two") {
    CHECK(usual_attention_scale(1) == 1);
    CHECK(usual_attention_scale(16) == 0.25);
    CHECK(usual_attention_scale(64) == 0.125);
    CHECK(usual_attention_scale(256) == 0.0625);
    for (const Index head_dim : {2, 8, 20, 52, 128}) {
        const double scale = usual_attention_scale(head_dim);
        CHECK(scale * scale * static_cast<double>(head_dim) == doctest::Approx(1).epsilon(1e-15));
    }
}
