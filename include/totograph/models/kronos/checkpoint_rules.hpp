// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/kronos/config.hpp>

namespace totograph::kronos {

/// What checkpoints of Kronos hold beside the tensors that the programs read: frequencies, which follow from the
/// configuration, and what only training reads. Time embeddings that are not learned have another name.
inline constexpr CheckpointRules checkpoint_rules{
    .family = "Kronos",
    .other_name =
        [](std::string name) {
            constexpr std::string_view end = "_embed.weight";
            if (name.starts_with("time_emb.") && name.ends_with(end)) {
                name.replace(name.size() - end.size(), end.size(), "_embed.emb.weight");
            }
            return name;
        },
    .is_ignored =
        [](std::string_view name) {
            return name.ends_with(".rotary.inv_freq") || name.starts_with("tokenizer.bsq.") ||
                   name.starts_with("post_quant_embed_pre.");
        },
    .part_of = [](std::string_view name) -> std::size_t {
        for (const std::string_view of_predictor :
             {"embedding.", "time_emb.", "transformer.", "norm.", "dep_layer.", "head.proj_"}) {
            if (name.starts_with(of_predictor)) {
                return 1;
            }
        }
        return 0;  // the tokenizer
    }};

namespace detail {

/// The fields that both configurations have.
template <class Config>
void check_shared_fields(io::ConfigCheck& check, const Config& config) {
    check.integer("d_model", config.d_model);
    check.integer("n_heads", config.n_heads);
    check.integer("ff_dim", config.ff_dim);
    check.integer("s1_bits", config.s1_bits);
    check.integer("s2_bits", config.s2_bits);
}

}  // namespace detail

/// Compares the tokenizer's `config.json` with the compiled configuration. What only training reads is not compared.
/// Throws one `Error` that lists each field that differs.
inline void check_config_file(const io::ModelConfig& file, const TokenizerConfig& config) {
    io::ConfigCheck check(file);
    detail::check_shared_fields(check, config);
    check.integer("d_in", config.d_in);
    check.integer("n_enc_layers", config.n_enc_layers);
    check.integer("n_dec_layers", config.n_dec_layers);
    check.finish();
}

/// The same of the predictor's.
inline void check_config_file(const io::ModelConfig& file, const PredictorConfig& config) {
    io::ConfigCheck check(file);
    detail::check_shared_fields(check, config);
    check.integer("n_layers", config.n_layers);
    check.finish();
}

}  // namespace totograph::kronos
