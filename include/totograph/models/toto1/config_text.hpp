// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/constant_json.hpp>
#include <totograph/models/toto1/config.hpp>

namespace totograph::toto1 {

/// The class that a checkpoint's `config.json` names.
constexpr const char* class_name(Scaler scaler) {
    return scaler == Scaler::global   ? "<class 'model.scaler.StdMeanScaler'>"
           : scaler == Scaler::causal ? "<class 'model.scaler.CausalStdMeanScaler'>"
                                      : "<class 'model.scaler.CausalPatchStdMeanScaler'>";
}
constexpr const char* class_name(Head head) {
    return head == Head::mixture_of_student_t ? "<class 'model.distribution.MixtureOfStudentTsOutput'>"
                                              : "<class 'model.distribution.StudentTOutput'>";
}

/// Writes a configuration as the `config.json` of its checkpoints has it.
constexpr void write_config(io::ConstantJson& json, const Toto1Config& config) {
    json.begin_object()
        .member("patch_size", config.patch_size)
        .member("stride", config.patch_size)
        .member("embed_dim", config.embed_dim)
        .member("num_layers", config.num_layers)
        .member("num_heads", config.num_heads)
        .member("mlp_hidden_dim", config.mlp_hidden_dim)
        .member("spacewise_every_n_layers", config.spacewise_every_n_layers)
        .member("spacewise_first", config.spacewise_first)
        .member("scaler_cls", class_name(config.scaler))
        .member("stabilize_with_global", config.stabilize_with_global)
        .member("scale_factor_exponent", config.scale_factor_exponent);
    json.key("output_distribution_classes").begin_array().value(class_name(config.head)).end_array();
    json.key("output_distribution_kwargs").begin_object().member("k_components", config.components()).end_object();
    json.end_object();
}

}  // namespace totograph::toto1
