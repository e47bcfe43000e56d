// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/nanovlm/config.hpp>

namespace totograph::nanovlm {

/// What checkpoints of nanoVLM hold beside the tensors that the programs read: frequencies, which follow from the
/// configuration. A head that is the embedding of tokens is stored once, under either name, or under both.
template <NanoVlmConfig config>
inline constexpr CheckpointRules checkpoint_rules{
    .family = "nanoVLM",
    .other_name =
        [](std::string name) {
            if (config.lm.lm_tie_weights && name == "decoder.head.weight") {
                name = "decoder.token_embedding.weight";
            }
            return name;
        },
    .is_ignored =
        [](std::string_view name) {
            return name == "decoder.rotary_embd.inv_freq" ||
                   (config.lm.lm_tie_weights && name == "decoder.token_embedding.weight") ||
                   (!config.has_vision() && (name.starts_with("vision_encoder.") || name.starts_with("MP.")));
        }};

/// Compares `config.json` with the compiled configuration: all fields that touch numbers. Throws one `Error` that lists
/// each field that differs.
inline void check_config_file(const io::ModelConfig& file, const NanoVlmConfig& config) {
    io::ConfigCheck check(file);
    const LanguageConfig& lm = config.lm;
    check.integer("lm_hidden_dim", lm.lm_hidden_dim);
    check.integer("lm_inter_dim", lm.lm_inter_dim);
    check.number("lm_rms_eps", lm.lm_rms_eps);
    check.integer("lm_re_base", lm.lm_re_base);
    check.integer("lm_max_position_embeddings", lm.lm_max_position_embeddings);
    check.integer("lm_vocab_size", lm.lm_vocab_size);
    check.integer("lm_n_heads", lm.lm_n_heads);
    check.integer("lm_n_kv_heads", lm.lm_n_kv_heads);
    check.integer("lm_n_blocks", lm.lm_n_blocks);
    check.number("lm_attn_scaling", lm.lm_attn_scaling);
    check.boolean("lm_tie_weights", lm.lm_tie_weights);
    if (config.has_vision()) {
        const VisionConfig& vit = config.vit;
        check.integer("vit_hidden_dim", vit.vit_hidden_dim);
        check.integer("vit_inter_dim", vit.vit_inter_dim);
        check.integer("vit_patch_size", vit.vit_patch_size);
        check.integer("vit_img_size", vit.vit_img_size);
        check.integer("vit_n_heads", vit.vit_n_heads);
        check.integer("vit_n_blocks", vit.vit_n_blocks);
        check.number("vit_ln_eps", vit.vit_ln_eps);
        check.boolean("vit_cls_flag", vit.vit_cls_flag);
        check.integer("mp_pixel_shuffle_factor", vit.mp_pixel_shuffle_factor);
        check.integer("mp_image_token_length", vit.mp_image_token_length);
    }
    check.finish();
}

}  // namespace totograph::nanovlm
