// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/model_config.hpp>

#include "models/known_models.cpp"  // NOLINT(bugprone-suspicious-include): the program links it, and no library has it

// Which model a checkpoint is of, by its config.json.

namespace {

using totograph::io::ModelConfig;

/// What the 4m checkpoint says, as published, with one field in place of another.
std::string published(std::string_view replaced = {}, std::string_view by = {}) {
    std::string text = R"({"patch_size": 32, "d_model": 256, "num_heads": 4, "num_layers": 4, "layer_group_size": 4,
        "num_variate_layers_per_group": 1, "variate_layer_first": false, "dropout_p": 0.0, "norm_eps": 0.0001,
        "attn_bias": true, "mlp_bias": false, "num_output_patches": 1, "d_ff": 688, "qk_dim": 64, "v_dim": 64,
        "num_groups": 4, "residual_mult": 0.75, "residual_attn_ratio": 5.136215466577748, "qk_norm": false,
        "norm_include_weight": false, "per_dim_scale": true, "use_xpos": true})";
    if (!replaced.empty()) {
        const std::size_t at = text.find(replaced);
        REQUIRE(at != std::string::npos);
        text.replace(at, replaced.size(), by);
    }
    return text;
}

/// The message of the error that a configuration is refused with; empty where it is of a known model.
std::string refusal_of(const std::string& text) {
    try {
        (void)examples::known_model_of(ModelConfig::parse(text, "config.json"));
    } catch (const totograph::Error& error) {
        CHECK(error.code() == totograph::ErrorCode::config_mismatch);
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a published configuration is of its model") {
    CHECK(examples::known_model_of(ModelConfig::parse(published(), "config.json")).name == "toto2_4m");
    // Fields that say how a checkpoint was initialized may differ.
    CHECK(refusal_of(published("0.75", "0.5")).empty());
}

TEST_CASE("a configuration that differs in any field is refused by the field's name") {
    struct Change {
        std::string_view field, from, to;
    };
    for (const Change& change :
         {Change{"patch_size", "\"patch_size\": 32", "\"patch_size\": 16"},
          Change{"num_heads", "\"num_heads\": 4", "\"num_heads\": 8"}, Change{"d_ff", "688", "680"},
          Change{"qk_dim", "\"qk_dim\": 64", "\"qk_dim\": 32"}, Change{"v_dim", "\"v_dim\": 64", "\"v_dim\": 32"},
          Change{"norm_eps", "0.0001", "0.0005"}, Change{"qk_norm", "\"qk_norm\": false", "\"qk_norm\": true"},
          Change{"layer_group_size", "\"layer_group_size\": 4", "\"layer_group_size\": 2"},
          Change{"num_output_patches", "\"num_output_patches\": 1", "\"num_output_patches\": 2"},
          Change{"use_xpos", "\"use_xpos\": true", "\"use_xpos\": false"}}) {
        CAPTURE(change.field);
        const std::string message = refusal_of(published(change.from, change.to));
        CHECK_MESSAGE(message.find("the field '" + std::string(change.field) + "'") != std::string::npos, message);
    }
}

TEST_CASE("a configuration of other sizes is of no known model") {
    CHECK(refusal_of(published("\"d_model\": 256", "\"d_model\": 384")).find("with a d_model of 384 and 4 layers") !=
          std::string::npos);
    CHECK(refusal_of(published("\"d_model\"", "\"width\"")).find("neither a d_model") != std::string::npos);
}
