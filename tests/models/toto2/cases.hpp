// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/models/toto2/family.hpp>

// The cases that the reference wrote, as models and sizes.

namespace toto2_cases {

namespace tg = totograph;
using tg::Bucket;
using tg::Imputation;
using tg::toto2::Inference;
using tg::toto2::Toto2Config;

constexpr Toto2Config changed(Toto2Config config, void (*change)(Toto2Config&)) {
    change(config);
    return config;
}

inline constexpr Toto2Config wide{.patch_size = 8,
                                  .d_model = 64,
                                  .d_ff = 176,
                                  .num_heads = 2,
                                  .num_layers = 4,
                                  .layer_group_size = 4,
                                  .qk_dim = 32,
                                  .v_dim = 32};
inline constexpr Toto2Config narrow{.patch_size = 8,
                                    .d_model = 32,
                                    .d_ff = 88,
                                    .num_heads = 2,
                                    .num_layers = 4,
                                    .layer_group_size = 4,
                                    .qk_dim = 16,
                                    .v_dim = 16};

/// What the reference's `forecast` does without arguments, and with some.
constexpr Inference raw(bool has_missing_values, tg::Index block = 0, tg::Index min_obs = 0, double cap = 0) {
    return {.decode_block_size = block,
            .has_missing_values = has_missing_values,
            .scaler_fallback_min_obs = min_obs,
            .quantile_real_cap_k = cap,
            .imputation = Imputation::as_given,
            .reference_block_groups = true};
}

struct published_shape {
    static constexpr Toto2Config config{
        .d_model = 64, .d_ff = 96, .num_heads = 2, .num_layers = 3, .layer_group_size = 3, .norm_eps = 5e-4};
    static constexpr Inference inference = raw(false);
    static constexpr Bucket bucket{.variates = 2, .context = 320, .horizon = 96};
};
struct known_gaps_blocks {
    static constexpr Toto2Config config = narrow;
    static constexpr Inference inference = raw(true, 16, 8);
    static constexpr Bucket bucket{.variates = 5, .context = 64, .horizon = 50, .exogenous = 2};
};
struct leading_gaps_blocks {
    static constexpr Toto2Config config = narrow;
    static constexpr Inference inference = raw(true, 16);
    static constexpr Bucket bucket{.variates = 4, .context = 64, .horizon = 50};
};
struct few_observations {
    static constexpr Toto2Config config = changed(narrow, [](Toto2Config& c) { c.patch_size = 4; });
    static constexpr Inference inference = raw(true, 8, 10);
    static constexpr Bucket bucket{.variates = 3, .context = 48, .horizon = 22};
};
struct flag_off_with_gaps {
    static constexpr Toto2Config config = narrow;
    static constexpr Inference inference = raw(false, 16);
    static constexpr Bucket bucket{.batch = 2, .variates = 3, .context = 64, .horizon = 40};
};
struct empty_variate_capped {
    static constexpr Toto2Config config = narrow;
    static constexpr Inference inference = raw(true, 16, 0, 0.05);
    static constexpr Bucket bucket{.variates = 4, .context = 64, .horizon = 40};
};
struct long_positions {
    static constexpr Toto2Config config = changed(narrow, [](Toto2Config& c) {
        c.patch_size = 2;
        c.num_layers = 2;
        c.layer_group_size = 2;
    });
    static constexpr Inference inference = raw(false, 16);
    static constexpr Bucket bucket{.variates = 1, .context = 600, .horizon = 64};
};
struct one_patch {
    static constexpr Toto2Config config = narrow;
    static constexpr Inference inference = raw(true, 0, 8);
    static constexpr Bucket bucket{.batch = 3, .variates = 2, .context = 8, .horizon = 3};
};
struct levels {
    static constexpr Toto2Config config = narrow;
    static constexpr Inference inference = raw(false, 0, 8, 1e4);
    static constexpr Bucket bucket{.variates = 6, .context = 64, .horizon = 20};
};
struct uneven_heads {
    static constexpr Toto2Config config = changed(narrow, [](Toto2Config& c) {
        c.num_heads = 4;
        c.num_groups = 2;
        c.num_layers = 6;
        c.layer_group_size = 3;
        c.num_variate_layers_per_group = 2;
        c.variate_layer_first = true;
        c.attn_bias = false;
        c.qk_dim = 24;
        c.v_dim = 8;
        c.qk_norm = true;
    });
    static constexpr Inference inference = raw(true);
    static constexpr Bucket bucket{.batch = 2, .variates = 5, .context = 48, .horizon = 20};
};
struct plain_rope {
    static constexpr Toto2Config config = changed(wide, [](Toto2Config& c) { c.use_xpos = false; });
    static constexpr Inference inference = raw(false);
    static constexpr Bucket bucket{.variates = 3, .context = 64, .horizon = 20};
};
struct normed_grouped_query {
    static constexpr Toto2Config config = changed(wide, [](Toto2Config& c) {
        c.num_heads = 4;
        c.num_groups = 2;
        c.mlp_bias = true;
        c.qk_dim = 16;
        c.v_dim = 16;
        c.qk_norm = true;
        c.norm_include_weight = true;
        c.qk_norm_include_weight = true;
        c.per_dim_scale = false;
    });
    static constexpr Inference inference = raw(false);
    static constexpr Bucket bucket{.variates = 3, .context = 64, .horizon = 20};
};
struct variate_first_groups_of_two {
    static constexpr Toto2Config config = changed(wide, [](Toto2Config& c) {
        c.variate_layer_first = true;
        c.layer_group_size = 2;
    });
    static constexpr Inference inference = raw(false);
    static constexpr Bucket bucket{.variates = 3, .context = 64, .horizon = 20};
};

}  // namespace toto2_cases
