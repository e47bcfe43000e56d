// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/models/nanovlm/config.hpp>

namespace examples::vlm_models {

/// To try programs: images of 16 x 16 pixels, 53 ids, and the image token 3. It has the sizes of a test's checkpoint.
struct Tiny {
    static constexpr totograph::nanovlm::NanoVlmConfig config{.lm = {.lm_hidden_dim = 48,
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
                                                              .images = 2,
                                                              .image_token_id = 3};
};

}  // namespace examples::vlm_models
