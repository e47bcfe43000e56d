// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include <totograph/core/shape.hpp>

namespace totograph::nanovlm {

template <class Model>
struct Family;

/// The language model. Fields are named as in `config.json`.
struct LanguageConfig {
    Index lm_hidden_dim = 0;
    Index lm_inter_dim = 0;
    double lm_rms_eps = 1e-5;
    Index lm_re_base = 100000;                ///< Of the rotary embedding's frequencies.
    Index lm_max_position_embeddings = 8192;  ///< Beyond it frequencies are divided, more so with each position.
    Index lm_vocab_size = 0;
    Index lm_n_heads = 1;
    Index lm_n_kv_heads = 1;
    int lm_n_blocks = 1;
    double lm_attn_scaling = 1;  ///< Of rotated queries and keys, both.
    bool lm_tie_weights = true;  ///< Whether the head is the embedding of tokens.

    /// Numbers in a checkpoint.
    [[nodiscard]] constexpr Index parameters() const {
        const Index keys = lm_n_kv_heads * (lm_hidden_dim / lm_n_heads);
        const Index block =
            2 * lm_hidden_dim * (lm_hidden_dim + keys) + 3 * lm_hidden_dim * lm_inter_dim + 2 * lm_hidden_dim;
        return (lm_tie_weights ? 1 : 2) * lm_vocab_size * lm_hidden_dim + lm_n_blocks * block + lm_hidden_dim;
    }
};

/// The vision encoder and its projector. Fields are named as in `config.json`.
struct VisionConfig {
    Index vit_hidden_dim = 0;  ///< 0: the model has no vision encoder.
    Index vit_inter_dim = 0;
    Index vit_patch_size = 16;
    Index vit_img_size = 512;  ///< Images are squares.
    Index vit_n_heads = 1;
    int vit_n_blocks = 1;
    double vit_ln_eps = 1e-6;
    bool vit_cls_flag = false;  ///< Whether a class token is the result. The projector cannot read that.
    Index mp_pixel_shuffle_factor = 1;
    Index mp_image_token_length = 64;  ///< Rows that an image becomes in the sequence.

    [[nodiscard]] constexpr Index grid() const { return vit_img_size / vit_patch_size; }
    [[nodiscard]] constexpr Index patches() const { return grid() * grid(); }
    /// Rows of the encoder: patches, and the class token.
    [[nodiscard]] constexpr Index rows() const { return patches() + (vit_cls_flag ? 1 : 0); }
    [[nodiscard]] constexpr Index pixels() const { return 3 * vit_img_size * vit_img_size; }
    /// Numbers of a row that the projector reads.
    [[nodiscard]] constexpr Index shuffled_width() const {
        return vit_hidden_dim * mp_pixel_shuffle_factor * mp_pixel_shuffle_factor;
    }

    /// Numbers in a checkpoint, the projector apart.
    [[nodiscard]] constexpr Index parameters() const {
        const Index width = vit_hidden_dim;
        const Index block = 4 * width * (width + 1) + 2 * width * vit_inter_dim + vit_inter_dim + width + 4 * width;
        return width * (3 * vit_patch_size * vit_patch_size + 1) + rows() * width + (vit_cls_flag ? width : 0) +
               vit_n_blocks * block + 2 * width;
    }
};

/// A nanoVLM: a language model, a vision encoder, and what goes with its tokenizer, which is in no configuration.
struct NanoVlmConfig {
    /// Who runs models of such a configuration (`nanovlm/family.hpp`).
    template <class Model>
    using Family = nanovlm::Family<Model>;

    LanguageConfig lm{};
    VisionConfig vit{};
    Index images = 1;              ///< Of all rows of a call together, at most. 0: text alone.
    Index image_token_id = 49152;  ///< Ids that stand for rows of images.

    [[nodiscard]] constexpr bool has_vision() const { return vit.vit_hidden_dim > 0; }
    /// Rows of all images.
    [[nodiscard]] constexpr Index image_rows() const { return images * vit.mp_image_token_length; }
    /// Numbers in a checkpoint.
    [[nodiscard]] constexpr Index parameters() const {
        return lm.parameters() + (has_vision() ? vit.parameters() + lm.lm_hidden_dim * vit.shuffled_width() : Index{0});
    }
};

// The published models, by the parameters of their names: language models of 360 and 135 million, which take 8192
// tokens, and the first release, whose images are smaller.
inline constexpr LanguageConfig language_of_360m{.lm_hidden_dim = 960,
                                                 .lm_inter_dim = 2560,
                                                 .lm_vocab_size = 49218,
                                                 .lm_n_heads = 15,
                                                 .lm_n_kv_heads = 5,
                                                 .lm_n_blocks = 32};
inline constexpr LanguageConfig language_of_135m{.lm_hidden_dim = 576,
                                                 .lm_inter_dim = 1536,
                                                 .lm_vocab_size = 49218,
                                                 .lm_n_heads = 9,
                                                 .lm_n_kv_heads = 3,
                                                 .lm_n_blocks = 30};
inline constexpr VisionConfig vision_of_512_pixels{
    .vit_hidden_dim = 768, .vit_inter_dim = 3072, .vit_n_heads = 12, .vit_n_blocks = 12, .mp_pixel_shuffle_factor = 4};
// NOLINTBEGIN(readability-identifier-naming)
struct vlm_460m {
    static constexpr NanoVlmConfig config{.lm = language_of_360m, .vit = vision_of_512_pixels};
};
struct vlm_230m {
    static constexpr NanoVlmConfig config{.lm = language_of_135m, .vit = vision_of_512_pixels};
};
struct vlm_222m {
    static constexpr NanoVlmConfig config = [] {
        NanoVlmConfig result = vlm_230m::config;
        result.lm.lm_vocab_size = 49152;
        result.vit.vit_img_size = 224;
        result.vit.mp_pixel_shuffle_factor = 2;
        result.vit.mp_image_token_length = 49;
        return result;
    }();
};
// NOLINTEND(readability-identifier-naming)

/// A model for so many images in a call, with weights of the same checkpoints. 0 images leave the vision encoder out.
template <class Published, Index count>
struct WithImages {
    using Checkpoint = Published;
    static constexpr NanoVlmConfig config = [] {
        NanoVlmConfig result = Published::config;
        result.images = count;
        return result;
    }();
};
template <class Published>
using TextOnly = WithImages<Published, 0>;

/// What a model description must offer.
template <class Model>
concept NanoVlmModel = requires {
    { Model::config.lm.parameters() } -> std::convertible_to<Index>;
    { Model::config.vit.patches() } -> std::convertible_to<Index>;
};

/// Sentences for vision encoders that cannot work.
template <VisionConfig config>
consteval bool check_vision() {
    static_assert(config.vit_hidden_dim > 0 && config.vit_inter_dim > 0 && config.vit_patch_size > 0 &&
                      config.vit_n_heads > 0 && config.vit_n_blocks > 0 && config.mp_pixel_shuffle_factor > 0,
                  "totograph: every size of a vision encoder must be positive.");
    static_assert(config.vit_img_size > 0 && config.vit_img_size % config.vit_patch_size == 0,
                  "totograph: vit_img_size must be a multiple of vit_patch_size.");
    static_assert(config.vit_hidden_dim % config.vit_n_heads == 0,
                  "totograph: vit_hidden_dim must be divisible by vit_n_heads.");
    return true;
}

/// Sentences for configurations that cannot work.
template <NanoVlmModel Model>
consteval bool check_config() {
    constexpr LanguageConfig lm = Model::config.lm;
    static_assert(lm.lm_hidden_dim > 0 && lm.lm_inter_dim > 0 && lm.lm_vocab_size > 0 && lm.lm_n_heads > 0 &&
                      lm.lm_n_kv_heads > 0 && lm.lm_n_blocks > 0 && lm.lm_re_base > 0 &&
                      lm.lm_max_position_embeddings > 0 && lm.lm_attn_scaling > 0,
                  "totograph: every size of a nanoVLM's language model must be positive.");
    static_assert(lm.lm_hidden_dim % (2 * lm.lm_n_heads) == 0,
                  "totograph: lm_hidden_dim must be divisible by lm_n_heads, to an even width: a rotary embedding "
                  "rotates pairs.");
    static_assert(lm.lm_n_heads % lm.lm_n_kv_heads == 0, "totograph: lm_n_heads must be a multiple of lm_n_kv_heads.");
    static_assert(lm.lm_vocab_size <= Index{1} << 24,
                  "totograph: lm_vocab_size is at most 2^24: ids pass as f32, which holds whole numbers up to there.");
    static_assert(Model::config.images >= 0, "totograph: a nanoVLM takes 0 images or more.");
    if constexpr (Model::config.images > 0) {
        constexpr VisionConfig vit = Model::config.vit;
        static_assert(vit.mp_image_token_length > 0, "totograph: mp_image_token_length must be positive.");
        if constexpr (Model::config.has_vision()) {
            static_assert(check_vision<vit>());
            static_assert(!vit.vit_cls_flag,
                          "totograph: a vision encoder with a class token gives one row an image, which the projector "
                          "of a nanoVLM cannot read.");
            static_assert(vit.grid() % vit.mp_pixel_shuffle_factor == 0,
                          "totograph: the patches of a side must be a multiple of mp_pixel_shuffle_factor.");
            static_assert(
                vit.patches() == vit.mp_image_token_length * vit.mp_pixel_shuffle_factor * vit.mp_pixel_shuffle_factor,
                "totograph: mp_image_token_length must be the number of patches of an image, divided by the "
                "square of mp_pixel_shuffle_factor.");
        }
    }
    return true;
}

}  // namespace totograph::nanovlm
