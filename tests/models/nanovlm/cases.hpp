// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/models/nanovlm/family.hpp>

// The cases that the reference wrote, as models and sizes.

namespace nanovlm_cases {

namespace tg = totograph;
using tg::Bucket;
using tg::nanovlm::LanguageConfig;
using tg::nanovlm::NanoVlmConfig;
using tg::nanovlm::token_bucket;
using tg::nanovlm::VisionConfig;

struct tokens_15_to_5 {
    static constexpr NanoVlmConfig config{.lm = {.lm_hidden_dim = 90,
                                                 .lm_inter_dim = 104,
                                                 .lm_vocab_size = 83,
                                                 .lm_n_heads = 15,
                                                 .lm_n_kv_heads = 5,
                                                 .lm_n_blocks = 2},
                                          .images = 0};
    static constexpr Bucket bucket = token_bucket(1, 11, 10);
};
struct left_padded {
    static constexpr NanoVlmConfig config{.lm = {.lm_hidden_dim = 60,
                                                 .lm_inter_dim = 112,
                                                 .lm_vocab_size = 83,
                                                 .lm_n_heads = 6,
                                                 .lm_n_kv_heads = 2,
                                                 .lm_n_blocks = 2,
                                                 .lm_tie_weights = false},
                                          .images = 0};
    static constexpr Bucket bucket = token_bucket(3, 13, 9);
};
/// Rows of images are given: four an image.
struct image_rows_padded {
    static constexpr NanoVlmConfig config{.lm = {.lm_hidden_dim = 48,
                                                 .lm_inter_dim = 88,
                                                 .lm_vocab_size = 61,
                                                 .lm_n_heads = 6,
                                                 .lm_n_kv_heads = 3,
                                                 .lm_n_blocks = 2},
                                          .vit = {.mp_image_token_length = 4},
                                          .images = 3,
                                          .image_token_id = 3};
    static constexpr Bucket bucket = token_bucket(3, 14, 7);
};
struct rope_rescaled {
    static constexpr NanoVlmConfig config{.lm = {.lm_hidden_dim = 52,
                                                 .lm_inter_dim = 112,
                                                 .lm_max_position_embeddings = 12,
                                                 .lm_vocab_size = 83,
                                                 .lm_n_blocks = 2,
                                                 .lm_attn_scaling = 0.875,
                                                 .lm_tie_weights = false},
                                          .images = 0};
    static constexpr Bucket bucket = token_bucket(1, 9, 9);
};
struct multi_query {
    static constexpr NanoVlmConfig config{.lm = {.lm_hidden_dim = 48,
                                                 .lm_inter_dim = 88,
                                                 .lm_rms_eps = 1e-6,
                                                 .lm_re_base = 10000,
                                                 .lm_vocab_size = 83,
                                                 .lm_n_heads = 8,
                                                 .lm_n_blocks = 3},
                                          .vit = {.mp_image_token_length = 3},
                                          .images = 2,
                                          .image_token_id = 3};
    static constexpr Bucket bucket = token_bucket(2, 7, 8);
};
struct vision_and_language {
    static constexpr NanoVlmConfig config{.lm = {.lm_hidden_dim = 48,
                                                 .lm_inter_dim = 72,
                                                 .lm_vocab_size = 53,
                                                 .lm_n_heads = 4,
                                                 .lm_n_kv_heads = 2,
                                                 .lm_n_blocks = 2},
                                          .vit = {.vit_hidden_dim = 32,
                                                  .vit_inter_dim = 80,
                                                  .vit_patch_size = 4,
                                                  .vit_img_size = 16,
                                                  .vit_n_heads = 4,
                                                  .vit_n_blocks = 2,
                                                  .mp_pixel_shuffle_factor = 2,
                                                  .mp_image_token_length = 4},
                                          .images = 3,
                                          .image_token_id = 3};
    static constexpr Bucket bucket = token_bucket(2, 15, 7);
};
/// A vision encoder that no language model can read.
struct vision_class_token {
    static constexpr VisionConfig config{.vit_hidden_dim = 36,
                                         .vit_inter_dim = 80,
                                         .vit_patch_size = 6,
                                         .vit_img_size = 18,
                                         .vit_n_heads = 3,
                                         .vit_n_blocks = 2,
                                         .vit_cls_flag = true,
                                         .mp_pixel_shuffle_factor = 2,
                                         .mp_image_token_length = 4};
    static constexpr tg::Index images = 2;
};

/// A case whose programs write what they compute to states.
template <class Case>
struct Inspected {
    using Checkpoint = Case;
    static constexpr NanoVlmConfig config = Case::config;
    static constexpr bool keeps_intermediates = true;
};

}  // namespace nanovlm_cases
