// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/inputs.hpp>
#include <totograph/models/toto2/layer.hpp>
#include <totograph/models/toto2/passes.hpp>
#include <totograph/models/toto2/session/stable_patches.hpp>
#include <totograph/nn/attention.hpp>

namespace totograph::toto2 {

/// A pass that goes on from stable patches (a `Pass` of `Stack`): the patch that becomes stable by it, the newest
/// patch, and what is to be forecast. Their keys are appended to those of the stable ones, where the next pass finds
/// the first and overwrites the others.
template <class Parts>
class ContinuedPass {
public:
    static constexpr std::string_view layer_tap = "tap.continued_layer";
    static constexpr std::string_view out_norm_tap = "tap.continued_out_norm";

    constexpr explicit ContinuedPass(const Inputs<Parts>& inputs)
        : inputs_(inputs),
          stable_(inputs),
          cache_(inputs.recorder(), states::context, states::row_bounds()),
          rotary_(stable_.count(), Parts::continued_tokens, stable_.count() + 1.0,
                  inputs.recorder().constant(Parts::fixed_centre)) {}

    [[nodiscard]] constexpr Tensor rotate_query(Tensor x) const { return rotary_.query(x); }
    [[nodiscard]] constexpr Tensor rotate_key(Tensor x) const { return rotary_.key(x); }
    [[nodiscard]] constexpr Tensor rotate_read_query(Tensor x) const { return rotary_.read_query(x); }

    [[nodiscard]] static constexpr Tensor needed(Tensor x) { return x; }
    [[nodiscard]] constexpr Tensor read(Tensor x) const { return slice(x, 3, 1, Parts::block); }
    [[nodiscard]] constexpr Tensor read_ids(Tensor ids) const { return slice(ids, 2, 1, Parts::block); }

    [[nodiscard]] constexpr Tensor attend(LayerIndex layer, Tensor query, Tensor key, Tensor value) {
        return attend_to(layer, query, key, value, all_);
    }
    [[nodiscard]] constexpr Tensor attend_read(LayerIndex layer, Tensor query, Tensor key, Tensor value) {
        return attend_to(layer, query, key, value, read_);
    }

private:
    /// The queries stand at the last of so many keys.
    [[nodiscard]] constexpr Tensor attend_to(LayerIndex layer, Tensor query, Tensor key, Tensor value, Tensor count) {
        cache_.append(layer, key, value);
        nn::AttentionOptions options = Layer<Parts>::options();
        options.queries = QueryPlaces::last;
        if constexpr (Parts::inference.has_missing_values) {
            options.mask = KeyMask::by_group;
            options.ids = stable_.ids();
        }
        return nn::attention(query, {cache_.keys(layer), cache_.values(layer), count}, options);
    }

    Inputs<Parts> inputs_;
    StablePatches<Parts> stable_;
    typename Parts::ContextCache cache_;
    // Tokens up to the last one and up to the last that is read, once for all layers.
    Tensor all_ = stable_.count() + static_cast<double>(Parts::continued_tokens);
    Tensor read_ = stable_.count() + static_cast<double>(1 + Parts::block);
    PassRotary<Parts> rotary_;
};

}  // namespace totograph::toto2
