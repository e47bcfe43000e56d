// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/family.hpp>  // without which nothing can be done with a model

namespace totograph::toto1 {

/// The small trained model that comes with the library, in `models/demo`: 2.8 million parameters of the Toto 1.0 kind,
/// trained on generated series with up to 1,024 steps of context and 8 variates. Its card, `models/demo/README.md`,
/// tells how accurate it is.
struct demo_1_0 {
    static constexpr Toto1Config config{.patch_size = 16,
                                        .embed_dim = 192,
                                        .num_layers = 6,
                                        .num_heads = 6,
                                        .mlp_hidden_dim = 384,
                                        .spacewise_every_n_layers = 3,
                                        .k_components = 16};
};

}  // namespace totograph::toto1
