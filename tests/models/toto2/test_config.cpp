// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/toto2/checkpoint_rules.hpp>
#include <totograph/models/toto2/config.hpp>

#include "io/support.hpp"

using namespace totograph;
using toto2::Toto2Config;

// Numbers of the published files, without the two residual weights of each layer.
static_assert(toto2::toto2_4m::config.parameters() == 4'144'448);
static_assert(toto2::toto2_22m::config.parameters() == 21'915'584);
static_assert(toto2::toto2_313m::config.parameters() == 312'684'608);
static_assert(toto2::toto2_1b::config.parameters() == 1'041'033'024);
static_assert(toto2::toto2_2_5b::config.parameters() == 2'454'281'792);
static_assert(toto2::check_config<toto2::toto2_4m>() && toto2::check_config<toto2::toto2_2_5b>());

namespace {

const std::string required =
    R"("patch_size": 32, "d_model": 256, "num_heads": 4, "num_layers": 4, "layer_group_size": 4,)"
    R"( "num_variate_layers_per_group": 1, "variate_layer_first": false)";
const std::string published =
    required + R"(, "norm_eps": 1e-4, "attn_bias": true, "d_ff": 688, "qk_dim": 64, "v_dim": null, "num_groups": 0,)"
               R"( "qk_norm": false, "per_dim_scale": true, "use_xpos": true, "residual_mult": 0.75, "pre_norm": true)";

void check(const std::string& fields, const Toto2Config& config) {
    toto2::check_config_file(io::ModelConfig::parse("{" + fields + "}", "config.json"), config);
}

}  // namespace

TEST_CASE("layers over variates end or lead their group") {
    using toto2::LayerKind;
    constexpr Toto2Config last = toto2::toto2_4m::config;
    CHECK(last.layer_kind(2) == LayerKind::time);
    CHECK(last.layer_kind(3) == LayerKind::variate);
    CHECK(last.last_time_layer() == 2);
    Toto2Config first = last;
    first.variate_layer_first = true;
    first.layer_group_size = 2;
    CHECK(first.layer_kind(2) == LayerKind::variate);
    CHECK(first.layer_kind(3) == LayerKind::time);
    first.num_variate_layers_per_group = 2;
    CHECK(first.last_time_layer() == -1);
}

TEST_CASE("a configuration as it is published, with null and 0 for what follows from the rest") {
    CHECK_NOTHROW(check(published, toto2::toto2_4m::config));
    CHECK_NOTHROW(check(published + R"(, "num_output_patches": 1, "dropout_p": 0.0)", toto2::toto2_4m::config));
}

TEST_CASE("fields that are missing have the reference's defaults, which are not those of the published models") {
    const Toto2Config plain{.d_model = 256,
                            .d_ff = 688,
                            .num_heads = 4,
                            .num_layers = 4,
                            .layer_group_size = 4,
                            .norm_eps = 5e-5,
                            .attn_bias = false,
                            .qk_norm = true,
                            .per_dim_scale = false,
                            .use_xpos = false};
    CHECK_NOTHROW(check(required, plain));
    test::check_error(ErrorCode::config_mismatch,
                      {"'norm_eps'", "'attn_bias'", "'qk_norm'", "'per_dim_scale'", "'use_xpos'", "means true"},
                      [&] { check(required, toto2::toto2_4m::config); });
}

TEST_CASE("fields that the reference overwrites or never reads may say anything") {
    CHECK_NOTHROW(check(published.substr(0, published.rfind(',')) + R"(, "pre_norm": false, "heads_per_group": 2)",
                        toto2::toto2_4m::config));
}

TEST_CASE("every field that differs is named") {
    test::check_error(ErrorCode::config_mismatch,
                      {"'d_model': expected 512, found 256", "'num_heads': expected 8", "'num_layers'", "'d_ff'"},
                      [&] { check(published, toto2::toto2_22m::config); });
    test::check_error(ErrorCode::config_mismatch, {"'num_output_patches': expected 1, found 2"},
                      [&] { check(published + R"(, "num_output_patches": 2)", toto2::toto2_4m::config); });
    test::check_error(ErrorCode::config_mismatch, {"'dropout_p'"},
                      [&] { check(published + R"(, "dropout_p": 0.1)", toto2::toto2_4m::config); });
    test::check_error(ErrorCode::config_mismatch, {"'variate_layer_first'", "nothing"},
                      [&] { check(R"("patch_size": 32)", toto2::toto2_4m::config); });
}
