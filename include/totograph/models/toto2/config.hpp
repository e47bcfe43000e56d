// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <totograph/core/shape.hpp>

namespace totograph::toto2 {

enum class LayerKind : std::uint8_t { time, variate };

template <class Model>
struct Family;

/// A Toto 2.0 architecture. Fields are named as in `config.json`; what most published models share is their default.
struct Toto2Config {
    /// Who runs models of such a configuration (`toto2/family.hpp`).
    template <class Model>
    using Family = toto2::Family<Model>;

    Index patch_size = 32;
    Index d_model = 0;
    Index d_ff = 0;
    Index num_heads = 1;
    Index num_groups = 0;  ///< Heads of keys and values; 0 for as many as queries.
    int num_layers = 1;
    int layer_group_size = 1;
    int num_variate_layers_per_group = 1;
    bool variate_layer_first = false;  ///< Whether variate layers lead or end their group.
    double norm_eps = 1e-4;
    bool attn_bias = true;
    bool mlp_bias = false;
    Index qk_dim = 64;  ///< Of a head of queries and keys.
    Index v_dim = 64;   ///< Of a head of values.
    bool qk_norm = false;
    bool norm_include_weight = false;
    bool qk_norm_include_weight = false;
    bool per_dim_scale = true;
    bool use_xpos = true;

    /// The quantiles that the head forecasts.
    static constexpr Index levels = 9;
    /// The reference's rotary tables end there.
    static constexpr Index most_positions = 8192;

    [[nodiscard]] constexpr Index groups() const { return num_groups > 0 ? num_groups : num_heads; }
    /// The first dimensions of a head that turn with the position.
    [[nodiscard]] constexpr Index rotated_dims() const { return qk_dim / 2; }

    [[nodiscard]] constexpr LayerKind layer_kind(int layer) const {
        const int place = layer % layer_group_size;
        const bool is_variate = variate_layer_first ? place < num_variate_layers_per_group
                                                    : place >= layer_group_size - num_variate_layers_per_group;
        return is_variate ? LayerKind::variate : LayerKind::time;
    }
    /// The last layer that looks along time; -1 where none does.
    [[nodiscard]] constexpr int last_time_layer() const {
        int layer = num_layers - 1;
        while (layer >= 0 && layer_kind(layer) == LayerKind::variate) {
            --layer;
        }
        return layer;
    }

    /// Numbers in a checkpoint, but for the two residual weights of each layer.
    [[nodiscard]] constexpr Index parameters() const {
        const auto mlp = [&](Index in, Index out) {
            return 4 * d_model * (in + out) + in * out + 4 * d_model + 2 * out;
        };
        const Index heads_in = num_heads * qk_dim + groups() * (qk_dim + v_dim);
        const Index heads_out = num_heads * v_dim;
        const Index norms = norm_include_weight ? d_model : 0;
        const Index layer = d_model * (heads_in + heads_out) + (attn_bias ? heads_in + d_model : 0) +
                            3 * d_model * d_ff + (mlp_bias ? 2 * d_ff + d_model : 0) + 2 * norms +
                            (per_dim_scale ? qk_dim : 0) + (qk_norm && qk_norm_include_weight ? 2 * qk_dim : 0);
        return mlp(2 * patch_size, d_model) + num_layers * layer + norms + mlp(d_model, levels * patch_size);
    }
};

// The published models.
struct toto2_4m {
    static constexpr Toto2Config config{
        .d_model = 256, .d_ff = 688, .num_heads = 4, .num_layers = 4, .layer_group_size = 4};
};
struct toto2_22m {
    static constexpr Toto2Config config{
        .d_model = 512, .d_ff = 1368, .num_heads = 8, .num_layers = 6, .layer_group_size = 6};
};
struct toto2_313m {
    static constexpr Toto2Config config{
        .d_model = 1024, .d_ff = 2736, .num_heads = 16, .num_layers = 24, .layer_group_size = 24};
};
struct toto2_1b {
    static constexpr Toto2Config config{
        .d_model = 1536, .d_ff = 4096, .num_heads = 24, .num_layers = 36, .layer_group_size = 36, .norm_eps = 5e-4};
};
struct toto2_2_5b {
    static constexpr Toto2Config config{
        .d_model = 2048, .d_ff = 5464, .num_heads = 32, .num_layers = 48, .layer_group_size = 48, .norm_eps = 5e-4};
};

/// What a model description must offer.
template <class Model>
concept Toto2Model = requires {
    { Model::config.patch_size } -> std::convertible_to<Index>;
    { Model::config.rotated_dims() } -> std::convertible_to<Index>;
};

/// Sentences for configurations that cannot work.
template <Toto2Model Model>
consteval bool check_config() {
    constexpr Toto2Config config = Model::config;
    static_assert(config.patch_size > 0 && config.d_model > 0 && config.d_ff > 0 && config.num_heads > 0 &&
                      config.num_layers > 0 && config.v_dim > 0,
                  "totograph: every size of a Toto 2.0 configuration must be positive.");
    static_assert(
        config.num_groups >= 0 && config.num_heads % config.groups() == 0,
        "totograph: num_heads must be a multiple of num_groups, the heads of keys and values; num_groups of 0 means "
        "as many as num_heads.");
    static_assert(config.norm_eps >= 0, "totograph: norm_eps of a Toto 2.0 model must not be negative.");
    static_assert(config.qk_dim > 0 && config.qk_dim % 4 == 0,
                  "totograph: half of a head is rotated in pairs, so qk_dim must be a multiple of 4.");
    static_assert(config.layer_group_size > 0 && config.num_layers % config.layer_group_size == 0,
                  "totograph: the number of layers must be a multiple of layer_group_size.");
    static_assert(
        config.num_variate_layers_per_group >= 0 && config.num_variate_layers_per_group <= config.layer_group_size,
        "totograph: num_variate_layers_per_group must be between 0 and layer_group_size.");
    return true;
}

}  // namespace totograph::toto2
