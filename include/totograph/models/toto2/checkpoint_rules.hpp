// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/config_text.hpp>  // for whoever compiles a package

namespace totograph::toto2 {

/// What checkpoints of Toto 2.0 hold: the tensors that the programs read, and no other.
inline constexpr CheckpointRules checkpoint_rules{.family = "Toto 2.0"};

/// Compares `config.json` with the compiled configuration. A field that is missing or null has the value that the
/// reference gives it, which is not always that of the published models. Throws one `Error` that lists each field that
/// differs. The residual multipliers are not compared: they say how a checkpoint was initialized, and the checkpoint
/// holds what came of them. Nor are `heads_per_group`, in place of which the reference takes `num_heads / num_groups`,
/// and `pre_norm`, which it never reads.
inline void check_config_file(const io::ModelConfig& file, const Toto2Config& config) {
    io::ConfigCheck check(file);
    check.null_is_absent();
    check.integer("patch_size", config.patch_size);
    check.integer("d_model", config.d_model);
    check.integer("num_heads", config.num_heads);
    check.integer("num_layers", config.num_layers);
    check.integer("layer_group_size", config.layer_group_size);
    check.integer("num_variate_layers_per_group", config.num_variate_layers_per_group);
    check.boolean("variate_layer_first", config.variate_layer_first);
    check.number("norm_eps", config.norm_eps, 5e-5);
    check.boolean("attn_bias", config.attn_bias, false);
    check.boolean("mlp_bias", config.mlp_bias, false);
    check.integer("num_output_patches", 1, 1);
    constexpr Index multiple = 8;
    check.integer("d_ff", config.d_ff, round_up(8 * config.d_model / 3, multiple));
    check.integer("qk_dim", config.qk_dim, config.d_model / config.num_heads);
    check.integer("v_dim", config.v_dim, config.qk_dim);
    // 0 says as much as null.
    const bool may_be_zero = config.groups() == config.num_heads && file.contains("num_groups") &&
                             !file.is_null("num_groups") && file.integer("num_groups") == 0;
    check.integer("num_groups", may_be_zero ? 0 : config.groups(), config.num_heads);
    check.boolean("qk_norm", config.qk_norm, true);
    check.boolean("norm_include_weight", config.norm_include_weight, false);
    if (config.qk_norm) {
        check.boolean("qk_norm_include_weight", config.qk_norm_include_weight, config.norm_include_weight);
    }
    check.boolean("per_dim_scale", config.per_dim_scale, false);
    check.boolean("use_xpos", config.use_xpos, false);
    check.number("dropout_p", 0, 0.0);
    check.finish();
}

}  // namespace totograph::toto2
