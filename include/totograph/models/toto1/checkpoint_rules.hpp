// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/config_text.hpp>

namespace totograph::toto1 {

/// The name under which the other of the two checkpoint layouts keeps a tensor: fused layers call the linear layers of
/// the feed-forward `mlp.0.w12` and `mlp.0.w3`, plain ones `mlp.0` and `mlp.2`.
inline std::string name_in_fused_layout(std::string name) {
    const std::pair<std::string_view, std::string_view> spellings[] = {{".mlp.0.", ".mlp.0.w12."},
                                                                       {".mlp.2.", ".mlp.0.w3."}};
    for (const auto& [plain, fused] : spellings) {
        if (const auto at = name.find(plain); at != std::string::npos) {
            name.replace(at, plain.size(), fused);
            break;
        }
    }
    return name;
}

/// What checkpoints of Toto 1.0 hold.
inline constexpr CheckpointRules checkpoint_rules{
    .family = "Toto 1.0",
    .other_name = name_in_fused_layout,
    // Rotary frequencies are a constant of the architecture that older checkpoints stored.
    .is_ignored = [](std::string_view name) { return name.ends_with("rotary_emb.freqs"); },
    .advice = [](std::string_view name) -> std::string_view {
        return name.ends_with("_variate_label")
                   ? "it was trained with exogenous variates: compile a configuration with "
                     "variate_labels = true."
                   : "";
    }};

/// Compares `config.json` with the compiled configuration. Throws one `Error` that lists each field that differs.
inline void check_config_file(const io::ModelConfig& file, const Toto1Config& config) {
    io::ConfigCheck check(file);
    check.integer("patch_size", config.patch_size);
    check.integer("stride", config.patch_size);
    check.integer("embed_dim", config.embed_dim);
    check.integer("num_layers", config.num_layers);
    check.integer("num_heads", config.num_heads);
    check.integer("mlp_hidden_dim", config.mlp_hidden_dim);
    check.integer("spacewise_every_n_layers", config.spacewise_every_n_layers);
    check.boolean("spacewise_first", config.spacewise_first, true);
    check.text("scaler_cls", class_name(config.scaler));
    if (config.scaler == Scaler::causal_patch) {
        check.boolean("stabilize_with_global", config.stabilize_with_global, true);
        if (config.stabilize_with_global && file.contains("scale_factor_exponent")) {
            check.number("scale_factor_exponent", config.scale_factor_exponent);
        }
    }
    check.text("output_distribution_classes.0", class_name(config.head));
    if (config.head == Head::mixture_of_student_t) {
        check.integer("output_distribution_kwargs.k_components", config.k_components);
    }
    check.finish();
}

}  // namespace totograph::toto1
