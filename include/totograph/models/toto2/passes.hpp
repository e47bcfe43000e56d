// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <cstdint>
#include <totograph/core/dtype.hpp>

#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/inputs.hpp>
#include <totograph/models/toto2/layer.hpp>
#include <totograph/models/toto2/states.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/partial_rotary.hpp>
#include <totograph/nn/rotary.hpp>
#include <totograph/nn/rows.hpp>

namespace totograph::toto2 {

/// Rotations of all tokens of a pass, and of those that the head reads.
template <class Parts>
class PassRotary {
public:
    /// `first` and `first_read` are positions, i32 `[1]` or `[batch]`, `centre` f32 with as many elements or one.
    constexpr PassRotary(Tensor first, Index tokens, Tensor first_read, Tensor centre)
        : all_(tables(first, tokens, centre)), read_(tables(first_read, Parts::block, centre)) {}

    [[nodiscard]] constexpr Tensor query(Tensor x) const { return nn::rotate(x, all_.query_cosine, all_.query_sine); }
    [[nodiscard]] constexpr Tensor key(Tensor x) const { return nn::rotate(x, all_.key_cosine, all_.key_sine); }
    [[nodiscard]] constexpr Tensor read_query(Tensor x) const {
        return nn::rotate(x, read_.query_cosine, read_.query_sine);
    }

private:
    static constexpr nn::PartialRotarySize size{
        .head_dim = Parts::config.qk_dim, .rotated = Parts::config.rotated_dims(), .use_xpos = Parts::config.use_xpos};

    static constexpr nn::RotaryTables tables(Tensor first, Index count, Tensor centre) {
        const auto by_series = [](Tensor x) { return reshape(cast(x, DType::f32), {x.shape().size(), 1, 1, 1, 1, 1}); };
        const Tensor positions = by_series(first) + reshape(first.recorder().iota(count), {count, 1, 1});
        return nn::partial_rotary_tables<size>(positions, by_series(centre));
    }

    nn::RotaryTables all_;
    nn::RotaryTables read_;
};

/// The half of a number of tokens, rounded down: where xPos is centred.
constexpr Tensor half(Tensor tokens) {
    return floor(cast(tokens, DType::f32) * 0.5);
}

/// The first pass: the context, then what is to be forecast. Padding stands behind both, where nobody sees it.
template <class Parts>
class FirstPass {
public:
    static constexpr std::string_view layer_tap = "tap.layer";
    static constexpr std::string_view out_norm_tap = "tap.out_norm";

    using Newest = typename Inputs<Parts>::Newest;

    /// `ids` are the groups of all tokens, i32 `[batch, variates, tokens]`.
    constexpr FirstPass(const Inputs<Parts>& inputs, Tensor ids, const Newest& newest)
        : inputs_(inputs),
          ids_(ids),
          cache_(inputs.recorder(), states::context, states::row_bounds(of_tokens)),
          read_places_(nn::row_places(newest.place, Parts::sizes.batch, Parts::sizes.variates, Parts::first_tokens,
                                      Parts::block)),
          read_ids_(ids_of_read(ids, newest)),
          rotary_(inputs.recorder().constant(0, DType::i32), Parts::first_tokens, newest.place, centre()) {}

    [[nodiscard]] constexpr Tensor rotate_query(Tensor x) const { return rotary_.query(x); }
    [[nodiscard]] constexpr Tensor rotate_key(Tensor x) const { return rotary_.key(x); }
    [[nodiscard]] constexpr Tensor rotate_read_query(Tensor x) const { return rotary_.read_query(x); }

    /// Tokens of x, of which nobody needs those behind what is asked for.
    [[nodiscard]] static constexpr Tensor needed(Tensor x) { return x.recorder().bound(x, 3, of_tokens); }
    [[nodiscard]] constexpr Tensor read(Tensor x) const { return nn::rows_at(x, read_places_); }
    [[nodiscard]] constexpr Tensor read_ids(Tensor /*of all tokens*/) const { return read_ids_; }

    [[nodiscard]] constexpr Tensor attend(LayerIndex layer, Tensor query, Tensor key, Tensor value) {
        return nn::attention(query, keep(layer, key, value, Parts::block - Parts::dropped), options());
    }
    [[nodiscard]] constexpr Tensor attend_read(LayerIndex layer, Tensor query, Tensor key, Tensor value) {
        nn::AttentionOptions at_end = options();
        at_end.queries = QueryPlaces::last;
        return nn::attention(query, keep(layer, key, value, Parts::block - 1), at_end);
    }

private:
    static constexpr std::int8_t of_tokens = states::asked_first_tokens;

    /// The groups of the tokens that the head reads.
    [[nodiscard]] static constexpr Tensor ids_of_read(Tensor ids, const Newest& newest) {
        if constexpr (!Parts::sizes.known_future) {
            // The newest patch of a target counts as observed: all that is read has the group of what is forecast.
            return newest.groups_of(Parts::block);
        } else if constexpr (Parts::block == 1) {
            return take(ids, 2, newest.place);
        } else {
            return concatenate(take(ids, 2, newest.place), newest.groups_of(Parts::block - 1), 2);
        }
    }

    /// In one pass the centre cancels between queries and keys, and stays what it is for every horizon.
    [[nodiscard]] constexpr Tensor centre() const {
        if constexpr (Parts::is_continued) {
            return inputs_.recorder().constant(Parts::fixed_centre);
        } else {
            return half(inputs_.length() + static_cast<double>(Parts::wanted_block));
        }
    }

    [[nodiscard]] constexpr nn::AttentionOptions options() const {
        nn::AttentionOptions options = Layer<Parts>::options();
        if constexpr (Parts::inference.has_missing_values) {
            options.mask = KeyMask::by_group;
            options.ids = ids_;
        }
        return options;
    }

    /// Keys that so many tokens behind the context may be seen by; later passes read those of the context.
    [[nodiscard]] constexpr nn::KeysAndValues keep(LayerIndex layer, Tensor key, Tensor value, Index ahead) {
        const Tensor count =
            ahead == Parts::block - Parts::dropped ? seen_ : inputs_.length() + static_cast<double>(ahead);
        if constexpr (Parts::has_blocks || Parts::is_continued) {
            cache_.fill(layer, key, value);
            const Tensor keys = cache_.keys(layer);
            return {keys, cache_.values(layer), count};
        } else {
            return {key, value, count};
        }
    }

    Inputs<Parts> inputs_;
    Tensor seen_ = inputs_.length() + static_cast<double>(Parts::block - Parts::dropped);  ///< Tokens, once for all.
    Tensor ids_;
    typename Parts::ContextCache cache_;
    // Small steps that wait for no layer come before all of them: on a device they share a launch.
    Tensor read_places_;  ///< Where the tokens that the head reads are.
    Tensor read_ids_;     ///< Their groups.
    PassRotary<Parts> rotary_;
};

/// A later pass: the block that was forecast last, then the one to forecast. Keys and values of all that is before come
/// from the caches.
template <class Parts>
class LaterPass {
public:
    static constexpr std::string_view layer_tap = "tap.later_layer";
    static constexpr std::string_view out_norm_tap = "tap.later_out_norm";

    constexpr explicit LaterPass(const Inputs<Parts>& inputs)
        : inputs_(inputs),
          context_(inputs.recorder(), states::context, states::row_bounds(states::asked_first_tokens)),
          blocks_(inputs.recorder(), states::forecast_cache, states::row_bounds()),
          rotary_(position(), Parts::later_tokens, position() + static_cast<double>(Parts::block - 1), centre()) {}

    /// The first token's position, i32 `[batch]`, and how many patches were forecast before it, i32 `[1]`.
    [[nodiscard]] constexpr Tensor position() const { return inputs_.length() + blocks_.length(); }
    [[nodiscard]] constexpr Tensor before() const { return blocks_.length(); }

    [[nodiscard]] constexpr Tensor rotate_query(Tensor x) const { return rotary_.query(x); }
    [[nodiscard]] constexpr Tensor rotate_key(Tensor x) const { return rotary_.key(x); }
    [[nodiscard]] constexpr Tensor rotate_read_query(Tensor x) const { return rotary_.read_query(x); }

    [[nodiscard]] static constexpr Tensor needed(Tensor x) { return x; }
    [[nodiscard]] constexpr Tensor read(Tensor x) const { return slice(x, 3, Parts::block - 1, Parts::block); }
    [[nodiscard]] constexpr Tensor read_ids(Tensor ids) const { return slice(ids, 2, Parts::block - 1, Parts::block); }

    [[nodiscard]] constexpr Tensor attend(LayerIndex layer, Tensor query, Tensor key, Tensor value) {
        return attend_to(layer, query, key, value, Parts::later_tokens);
    }
    [[nodiscard]] constexpr Tensor attend_read(LayerIndex layer, Tensor query, Tensor key, Tensor value) {
        return attend_to(layer, query, key, value, 2 * Parts::block - 1);
    }

    /// Keeps the keys of the first block alone.
    constexpr void advance() { blocks_.advance(Parts::block); }

private:
    [[nodiscard]] constexpr Tensor centre() const {
        const Tensor ahead = minimum(blocks_.length() + static_cast<double>(2 * Parts::block), inputs_.patches_asked());
        return half(inputs_.length() + ahead);
    }

    /// The queries stand at the last of so many tokens.
    [[nodiscard]] constexpr Tensor attend_to(LayerIndex layer, Tensor query, Tensor key, Tensor value, Index tokens) {
        blocks_.append(layer, key, value);
        nn::AttentionOptions options = Layer<Parts>::options();
        options.mask = KeyMask::by_key;
        options.ids = inputs_.recorder().state(states::visible, Parts::visible_shape, DType::i32);
        const nn::KeysAndValues context{context_.keys(layer), context_.values(layer), inputs_.length()};
        const nn::KeysAndValues own{
            blocks_.keys(layer), blocks_.values(layer),
            tokens == Parts::later_tokens ? appended_ : blocks_.length() + static_cast<double>(tokens)};
        return nn::attention(query, context, own, options);
    }

    Inputs<Parts> inputs_;
    typename Parts::ContextCache context_;
    typename Parts::BlockCache blocks_;
    Tensor appended_ = blocks_.length() + static_cast<double>(Parts::later_tokens);  ///< Once for all layers.
    PassRotary<Parts> rotary_;
};

}  // namespace totograph::toto2
