// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/toto1/fixture_data.hpp"

// The cases that the reference wrote, as models and sizes.

namespace fixture {

using tg::toto1::Toto1Config;

namespace models {

constexpr Toto1Config changed(Toto1Config config, void (*change)(Toto1Config&)) {
    change(config);
    return config;
}

struct Small {
    static constexpr Toto1Config config = small_config;
};
struct SingleStudentT {
    static constexpr Toto1Config config =
        changed(small_config, [](Toto1Config& c) { c.head = tg::toto1::Head::student_t; });
};
struct SpaceFirst {
    static constexpr Toto1Config config = changed(small_config, [](Toto1Config& c) { c.spacewise_first = true; });
};
struct TimeOnly {
    static constexpr Toto1Config config = changed(small_config, [](Toto1Config& c) {
        c.spacewise_every_n_layers = -1;
        c.num_layers = 3;
    });
};
struct GlobalScaler {
    static constexpr Toto1Config config =
        changed(small_config, [](Toto1Config& c) { c.scaler = tg::toto1::Scaler::global; });
};
struct CausalScaler {
    static constexpr Toto1Config config =
        changed(small_config, [](Toto1Config& c) { c.scaler = tg::toto1::Scaler::causal; });
};
struct Unstabilized {
    static constexpr Toto1Config config =
        changed(small_config, [](Toto1Config& c) { c.stabilize_with_global = false; });
};
struct TightStabilizer {
    static constexpr Toto1Config config = changed(small_config, [](Toto1Config& c) { c.scale_factor_exponent = 0.3; });
};
struct Exogenous {
    static constexpr Toto1Config config = changed(small_config, [](Toto1Config& c) { c.variate_labels = true; });
};
struct WideHeads {
    static constexpr Toto1Config config{.patch_size = 16,
                                        .embed_dim = 96,
                                        .num_layers = 6,
                                        .num_heads = 3,
                                        .mlp_hidden_dim = 128,
                                        .spacewise_every_n_layers = 3,
                                        .k_components = 5};
};

}  // namespace models

using tg::Bucket;

inline const Case<models::Small, Bucket{.variates = 3, .context = 64, .horizon = 20}> mixture{"mixture"};
inline const Case<models::Small, Bucket{.variates = 1, .context = 8, .horizon = 8}> univariate_one_patch{
    "univariate_one_patch"};
inline const Case<models::SingleStudentT, Bucket{.variates = 2, .context = 48, .horizon = 24}> student_t{"student_t"};
inline const Case<models::SpaceFirst, Bucket{.batch = 2, .variates = 3, .context = 40, .horizon = 30}> space_first{
    "space_first"};
inline const Case<models::TimeOnly, Bucket{.variates = 4, .context = 56, .horizon = 16}> time_only{"time_only"};
inline const Case<models::Small, Bucket{.batch = 2, .variates = 5, .context = 61, .horizon = 17}> groups_and_gaps{
    "groups_and_gaps"};
inline const Case<models::Small, Bucket{.variates = 2, .context = 64, .horizon = 16}> all_padding_patch{
    "all_padding_patch"};
inline const Case<models::GlobalScaler, Bucket{.variates = 3, .context = 48, .horizon = 16}> std_mean_scaler{
    "std_mean_scaler"};
inline const Case<models::CausalScaler, Bucket{.variates = 3, .context = 48, .horizon = 16}> causal_scaler{
    "causal_scaler"};
inline const Case<models::Unstabilized, Bucket{.variates = 3, .context = 48, .horizon = 16}> unstabilized{
    "unstabilized"};
inline const Case<models::TightStabilizer, Bucket{.variates = 3, .context = 72, .horizon = 24}> tight_stabilizer{
    "tight_stabilizer"};
inline const Case<models::Small, Bucket{.variates = 3, .context = 64, .horizon = 24}> large_offset{"large_offset"};
inline const Case<models::Small, Bucket{.variates = 3, .context = 64, .horizon = 24}> constant{"constant"};
inline const Case<models::Exogenous, Bucket{.batch = 2, .variates = 5, .context = 64, .horizon = 20, .exogenous = 2}>
    exogenous{"exogenous"};
inline const Case<models::WideHeads, Bucket{.variates = 7, .context = 256, .horizon = 64}> wide_heads{"wide_heads"};

}  // namespace fixture
