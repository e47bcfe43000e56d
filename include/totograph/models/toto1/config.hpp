// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <totograph/core/shape.hpp>

namespace totograph::toto1 {

/// How series are brought to a common scale before they are embedded.
enum class Scaler : std::uint8_t {
    global,        ///< `StdMeanScaler`: one mean and scale for the whole context.
    causal,        ///< `CausalStdMeanScaler`: those of all steps so far, at each step.
    causal_patch,  ///< `CausalPatchStdMeanScaler`: those at the end of each patch, for the whole patch.
};

/// The distribution that the head parametrizes.
enum class Head : std::uint8_t {
    student_t,
    mixture_of_student_t,
};

enum class LayerKind : std::uint8_t { time_wise, space_wise };

template <class Model>
struct Family;

/// A Toto 1.0 architecture. Fields are named as in `config.json`.
struct Toto1Config {
    /// Who runs models of such a configuration (`toto1/family.hpp`).
    template <class Model>
    using Family = toto1::Family<Model>;

    Index patch_size = 64;
    Index embed_dim = 768;
    int num_layers = 12;
    Index num_heads = 12;
    Index mlp_hidden_dim = 3072;
    int spacewise_every_n_layers = 12;  ///< One space-wise layer in every so many; -1 for none.
    bool spacewise_first = false;       ///< Whether it leads or ends its block.
    Scaler scaler = Scaler::causal_patch;
    bool stabilize_with_global = true;  ///< Only the causal patch scaler does so.
    double scale_factor_exponent = 10;
    Head head = Head::mixture_of_student_t;
    Index k_components = 24;
    bool variate_labels = false;  ///< A fusion token tells target from exogenous variates.

    /// The root mean square norm's epsilon, which the reference fixes.
    static constexpr double norm_epsilon = 1e-8;

    [[nodiscard]] constexpr Index head_dim() const { return embed_dim / num_heads; }
    [[nodiscard]] constexpr Index components() const { return head == Head::student_t ? 1 : k_components; }

    [[nodiscard]] constexpr LayerKind layer_kind(int layer) const {
        if (spacewise_every_n_layers < 1) {
            return LayerKind::time_wise;
        }
        const int place = layer % spacewise_every_n_layers;
        const int space_wise = spacewise_first ? 0 : spacewise_every_n_layers - 1;
        return place == space_wise ? LayerKind::space_wise : LayerKind::time_wise;
    }

    /// The first of the space-wise layers that end the model; `num_layers` when it ends with a time-wise layer.
    [[nodiscard]] constexpr int first_trailing_space_wise_layer() const {
        int layer = num_layers;
        while (layer > 0 && layer_kind(layer - 1) == LayerKind::space_wise) {
            --layer;
        }
        return layer;
    }

    /// Tokens put before the patches of each variate.
    [[nodiscard]] constexpr Index prepended_tokens() const { return variate_labels ? 1 : 0; }
};

/// Toto-Open-Base-1.0: 151 million parameters.
struct open_base_1_0 {
    static constexpr Toto1Config config{};
};

/// What a model description must offer.
template <class Model>
concept Toto1Model = requires {
    { Model::config.patch_size } -> std::convertible_to<Index>;
    { Model::config.components() } -> std::convertible_to<Index>;
};

/// Sentences for configurations that cannot work.
template <Toto1Model Model>
consteval bool check_config() {
    constexpr Toto1Config config = Model::config;
    static_assert(config.patch_size > 0 && config.embed_dim > 0 && config.num_layers > 0 && config.num_heads > 0 &&
                      config.mlp_hidden_dim > 0 && config.components() > 0,
                  "totograph: every size of a Toto configuration must be positive.");
    static_assert(config.embed_dim % config.num_heads == 0,
                  "totograph: the embedding dimension must be divisible by the number of heads.");
    static_assert(config.head_dim() % 2 == 0,
                  "totograph: a rotary embedding rotates pairs, so the width of a head must be even.");
    static_assert(
        config.spacewise_every_n_layers < 1 || config.num_layers % config.spacewise_every_n_layers == 0,
        "totograph: the number of layers must be a multiple of spacewise_every_n_layers, or that must be -1.");
    return true;
}

}  // namespace totograph::toto1
