// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/constant_json.hpp>
#include <totograph/models/toto2/config.hpp>

namespace totograph::toto2 {

/// Writes a configuration as the `config.json` of its checkpoints has it.
constexpr void write_config(io::ConstantJson& json, const Toto2Config& config) {
    json.begin_object()
        .member("patch_size", config.patch_size)
        .member("d_model", config.d_model)
        .member("d_ff", config.d_ff)
        .member("num_heads", config.num_heads)
        .member("num_groups", config.groups())
        .member("num_layers", config.num_layers)
        .member("layer_group_size", config.layer_group_size)
        .member("num_variate_layers_per_group", config.num_variate_layers_per_group)
        .member("variate_layer_first", config.variate_layer_first)
        .member("norm_eps", config.norm_eps)
        .member("attn_bias", config.attn_bias)
        .member("mlp_bias", config.mlp_bias)
        .member("qk_dim", config.qk_dim)
        .member("v_dim", config.v_dim)
        .member("qk_norm", config.qk_norm)
        .member("norm_include_weight", config.norm_include_weight)
        .member("qk_norm_include_weight", config.qk_norm_include_weight)
        .member("per_dim_scale", config.per_dim_scale)
        .member("use_xpos", config.use_xpos)
        .end_object();
}

}  // namespace totograph::toto2
