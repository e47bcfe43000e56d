// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include <totograph/core/shape.hpp>

namespace totograph::kronos {

template <class Model>
struct Family;

/// The tokenizer of a Kronos model. Fields are named as in its `config.json`.
struct TokenizerConfig {
    Index d_in = 6;
    Index d_model = 256;
    Index n_heads = 4;
    Index ff_dim = 512;
    int n_enc_layers = 4;  ///< One more than there are blocks: so the reference counts.
    int n_dec_layers = 4;
    Index s1_bits = 10;
    Index s2_bits = 10;

    /// Bits of a candle's code.
    [[nodiscard]] constexpr Index bits() const { return s1_bits + s2_bits; }

    /// Numbers in a checkpoint, without those that only training reads.
    [[nodiscard]] constexpr Index parameters() const {
        const Index block = 4 * d_model * (d_model + 1) + 3 * d_model * ff_dim + 2 * d_model;
        return d_model * (d_in + 1) + d_in * (d_model + 1) + bits() * (d_model + 1) + d_model * (bits() + 1) +
               (n_enc_layers + n_dec_layers - 2) * block;
    }
};

/// The predictor of a Kronos model. Fields are named as in its `config.json`.
struct PredictorConfig {
    int n_layers = 1;
    Index d_model = 0;
    Index n_heads = 1;
    Index ff_dim = 0;
    Index s1_bits = 10;
    Index s2_bits = 10;

    /// Heads of the dependency-aware layer, whatever the number of the others.
    static constexpr Index dependency_heads = 4;

    [[nodiscard]] constexpr Index s1_ids() const { return Index{1} << s1_bits; }
    [[nodiscard]] constexpr Index s2_ids() const { return Index{1} << s2_bits; }

    /// Numbers in a checkpoint.
    [[nodiscard]] constexpr Index parameters() const {
        constexpr Index times = 60 + 24 + 7 + 32 + 13;
        const Index attention = 4 * d_model * (d_model + 1);
        return (s1_ids() + s2_ids() + times) * d_model + d_model * (2 * d_model + 1) +
               n_layers * (attention + 3 * d_model * ff_dim + 2 * d_model) + attention + 2 * d_model +
               (s1_ids() + s2_ids()) * (d_model + 1);
    }
};

/// A Kronos model: a tokenizer, a predictor, and what the reference takes as arguments beside them.
struct KronosConfig {
    /// Who runs models of such a configuration (`kronos/family.hpp`).
    template <class Model>
    using Family = kronos::Family<Model>;

    TokenizerConfig tokenizer{};
    PredictorConfig predictor{};
    Index max_context = 512;  ///< Candles that the predictor sees at once. In no file: it goes with the checkpoint.
    double clip = 5;          ///< Normalized values are at most so far from 0.
    /// Where the window slides: keeps keys and values of the candles in it, as they were when these were the newest,
    /// and computes one candle a step. The reference computes the whole window anew, with other numbers.
    bool rolls_cache = false;

    /// What the reference adds to a standard deviation, and to the mean square in its norms.
    static constexpr double deviation_epsilon = 1e-5;
    static constexpr double norm_epsilon = 1e-5;
};

// The published models, by their published names: mini goes with Kronos-Tokenizer-2k, the others with
// Kronos-Tokenizer-base.
// NOLINTBEGIN(readability-identifier-naming)
struct mini {
    static constexpr KronosConfig config{.predictor = {.n_layers = 4, .d_model = 256, .n_heads = 4, .ff_dim = 512},
                                         .max_context = 2048};
};
struct small {
    static constexpr KronosConfig config{.predictor = {.n_layers = 8, .d_model = 512, .n_heads = 8, .ff_dim = 1024}};
};
struct base {
    static constexpr KronosConfig config{.predictor = {.n_layers = 12, .d_model = 832, .n_heads = 16, .ff_dim = 2048}};
};
// NOLINTEND(readability-identifier-naming)

/// A model that rolls its cache where the window slides (`KronosConfig::rolls_cache`), with weights of the same
/// checkpoints.
template <class Published>
struct Rolling {
    using Checkpoint = Published;
    static constexpr KronosConfig config = [] {
        KronosConfig result = Published::config;
        result.rolls_cache = true;
        return result;
    }();
};

/// What a model description must offer.
template <class Model>
concept KronosModel = requires {
    { Model::config.tokenizer.bits() } -> std::convertible_to<Index>;
    { Model::config.predictor.s1_ids() } -> std::convertible_to<Index>;
};

/// Sentences for configurations that cannot work.
template <KronosModel Model>
consteval bool check_config() {
    constexpr TokenizerConfig tokenizer = Model::config.tokenizer;
    constexpr PredictorConfig predictor = Model::config.predictor;
    static_assert(tokenizer.d_in == 6, "totograph: a Kronos tokenizer reads candles of six numbers.");
    static_assert(tokenizer.d_model > 0 && tokenizer.n_heads > 0 && tokenizer.ff_dim > 0 &&
                      tokenizer.n_enc_layers > 1 && tokenizer.n_dec_layers > 1 && predictor.n_layers > 0 &&
                      predictor.d_model > 0 && predictor.n_heads > 0 && predictor.ff_dim > 0,
                  "totograph: every size of a Kronos configuration must be positive, and a tokenizer's layers at least "
                  "2 each: one more than its blocks.");
    static_assert(tokenizer.s1_bits > 0 && tokenizer.s2_bits > 0 && tokenizer.s1_bits <= 20 && tokenizer.s2_bits <= 20,
                  "totograph: s1_bits and s2_bits of a Kronos model are 1 to 20 each.");
    static_assert(tokenizer.s1_bits == predictor.s1_bits && tokenizer.s2_bits == predictor.s2_bits,
                  "totograph: a Kronos tokenizer and its predictor have the same s1_bits and s2_bits.");
    static_assert(tokenizer.bits() % 2 == 0, "totograph: s1_bits + s2_bits of a Kronos model must be even.");
    static_assert(tokenizer.d_model % (2 * tokenizer.n_heads) == 0 && predictor.d_model % (2 * predictor.n_heads) == 0,
                  "totograph: d_model must be divisible by the number of heads, to an even width: a rotary embedding "
                  "rotates pairs.");
    static_assert(predictor.d_model % PredictorConfig::dependency_heads == 0,
                  "totograph: a Kronos predictor's d_model must be divisible by 4, the heads of its dependency layer.");
    static_assert(Model::config.max_context > 0 && Model::config.clip > 0,
                  "totograph: max_context and clip of a Kronos model must be positive.");
    return true;
}

}  // namespace totograph::kronos
