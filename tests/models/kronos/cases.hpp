// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/models/kronos/family.hpp>

// The cases that the reference wrote, as models and sizes.

namespace kronos_cases {

namespace tg = totograph;
using tg::Bucket;
using tg::kronos::candle_bucket;
using tg::kronos::KronosConfig;

struct one_series {
    static constexpr KronosConfig config{
        .tokenizer = {.d_model = 32,
                      .n_heads = 2,
                      .ff_dim = 48,
                      .n_enc_layers = 3,
                      .n_dec_layers = 3,
                      .s1_bits = 5,
                      .s2_bits = 5},
        .predictor = {.n_layers = 2, .d_model = 64, .n_heads = 4, .ff_dim = 72, .s1_bits = 5, .s2_bits = 5},
        .max_context = 64};
    static constexpr Bucket bucket = candle_bucket(1, 24, 8, 1);
    static constexpr tg::IdDraws draws{.temperature = 1, .filter = {.top_k = 0, .top_p = 0.9F}};
};
struct head_of_52 {
    static constexpr KronosConfig config{
        .tokenizer = {.d_model = 32,
                      .n_heads = 2,
                      .ff_dim = 48,
                      .n_enc_layers = 2,
                      .n_dec_layers = 4,
                      .s1_bits = 5,
                      .s2_bits = 5},
        .predictor = {.n_layers = 2, .d_model = 104, .n_heads = 2, .ff_dim = 72, .s1_bits = 5, .s2_bits = 5},
        .max_context = 18};
    static constexpr Bucket bucket = candle_bucket(2, 14, 10, 2);
    static constexpr tg::IdDraws draws{.temperature = 0.6F, .filter = {.top_k = 0, .top_p = 0.9F}};
};
struct sliding_window {
    static constexpr KronosConfig config{
        .tokenizer = {.d_model = 24,
                      .n_heads = 3,
                      .ff_dim = 48,
                      .n_enc_layers = 4,
                      .n_dec_layers = 2,
                      .s1_bits = 4,
                      .s2_bits = 4},
        .predictor = {.n_layers = 4, .d_model = 48, .n_heads = 3, .ff_dim = 80, .s1_bits = 4, .s2_bits = 4},
        .max_context = 16};
    static constexpr Bucket bucket = candle_bucket(1, 40, 14, 3);
    static constexpr tg::IdDraws draws{.temperature = 1.3F, .filter = {.top_k = 3, .top_p = 0.5F}};
};
struct no_volume {
    static constexpr KronosConfig config{
        .tokenizer = {.d_model = 40,
                      .n_heads = 4,
                      .ff_dim = 48,
                      .n_enc_layers = 3,
                      .n_dec_layers = 3,
                      .s1_bits = 8,
                      .s2_bits = 8},
        .predictor = {.n_layers = 1, .d_model = 32, .n_heads = 4, .ff_dim = 72, .s1_bits = 8, .s2_bits = 8},
        .max_context = 11};
    static constexpr Bucket bucket = candle_bucket(2, 11, 6, 2);
    static constexpr tg::IdDraws draws{.temperature = 1, .filter = {.top_k = 0, .top_p = 0.95F}};
};
struct no_amount_clipped {
    static constexpr KronosConfig config{
        .tokenizer = {.d_model = 32,
                      .n_heads = 2,
                      .ff_dim = 48,
                      .n_enc_layers = 3,
                      .n_dec_layers = 2,
                      .s1_bits = 6,
                      .s2_bits = 6},
        .predictor = {.n_layers = 2, .d_model = 48, .n_heads = 2, .ff_dim = 80, .s1_bits = 6, .s2_bits = 6},
        .max_context = 22};
    static constexpr Bucket bucket = candle_bucket(2, 30, 10, 1);
    static constexpr tg::IdDraws draws{.temperature = 0.9F, .filter = {.top_k = 0, .top_p = 1}};
};
struct unequal_bits {
    static constexpr KronosConfig config{
        .tokenizer = {.d_model = 16,
                      .n_heads = 1,
                      .ff_dim = 48,
                      .n_enc_layers = 3,
                      .n_dec_layers = 3,
                      .s1_bits = 6,
                      .s2_bits = 4},
        .predictor = {.n_layers = 2, .d_model = 40, .n_heads = 5, .ff_dim = 56, .s1_bits = 6, .s2_bits = 4},
        .max_context = 14};
    static constexpr Bucket bucket = candle_bucket(3, 12, 6, 2);
    static constexpr tg::IdDraws draws{.temperature = 1, .filter = {.top_k = 5, .top_p = 1}};
};

/// A case whose programs write what they compute to states, and take ids from states.
template <class Case>
struct Inspected {
    using Checkpoint = Case;
    static constexpr KronosConfig config = Case::config;
    static constexpr bool keeps_intermediates = true;
};

/// The same with a cache that rolls where the window slides.
template <class Case>
struct InspectedRolling : Inspected<Case> {
    static constexpr KronosConfig config = tg::kronos::Rolling<Case>::config;
};

}  // namespace kronos_cases
