// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/inputs.hpp>
#include <totograph/models/toto2/parts.hpp>
#include <totograph/models/toto2/passes.hpp>
#include <totograph/models/toto2/projections.hpp>
#include <totograph/models/toto2/quantiles.hpp>
#include <totograph/models/toto2/scaling.hpp>
#include <totograph/models/toto2/session/stable_patches.hpp>
#include <totograph/models/toto2/stack.hpp>
#include <totograph/models/toto2/states.hpp>
#include <totograph/nn/extreme_values.hpp>
#include <totograph/nn/rows.hpp>

namespace totograph::toto2 {

/// Reads the context and forecasts all patches, or those of the first block.
template <Toto2Model Model, Bucket bucket>
struct First {
    using Parts = toto2::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> inputs(r);
        // First of all inputs: where its marks are on the device already, the others are one copy.
        const Tensor observed = inputs.observed();
        (void)inputs.request();
        if constexpr (Parts::has_frame) {
            inputs.begin_frame();
        }
        const ScaledPatches scaled = scale_context(inputs, observed);
        Parts::tap("tap.location", scaled.location);
        Parts::tap("tap.scale", scaled.scale);
        // Small steps that wait for no GEMM come first: on a device they share a launch.
        const auto newest = inputs.newest();
        const Tensor ids = token_ids(inputs, newest);
        if constexpr (Parts::has_blocks) {
            keep_ids(inputs, ids, newest);
        }
        FirstPass<Parts> pass(inputs, ids, newest);
        // Anew, so that what scales the series and what tells tokens apart have nothing in common: on a device they run
        // beside each other.
        const Tensor place = inputs.length() - 1.0;
        const Tensor location = take(scaled.location, 3, place);
        const Tensor scale = take(scaled.scale, 3, place);
        const Quantiles<Parts> quantiles(inputs);
        if constexpr (Quantiles<Parts>::is_capped) {
            const Tensor values = inputs.values();
            quantiles.keep_bounds(Quantiles<Parts>::extremes(values, observed), scale);
        }
        if constexpr (Parts::is_continued) {
            StablePatches<Parts>(inputs).begin(scaled.moments.at_ends, ids);
        }

        const Tensor x = tokens(inputs, scaled);
        Parts::tap("tap.embeddings", x);
        const Tensor head = Projections<Parts>::head(Stack<Parts>::record(x, ids, pass));
        Parts::tap("tap.head", head);
        finish(inputs, quantiles.record(head, location, scale));
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;
    static constexpr Index tokens_behind = Parts::first_tokens - sizes.context_patches;

    /// `observed` are the inputs' own.
    static constexpr ScaledPatches scale_context(const Inputs<Parts>& inputs, Tensor observed) {
        constexpr Index least = Parts::inference.scaler_fallback_min_obs;
        constexpr auto bound = std::int8_t{Parts::is_continued ? 0 : states::asked_tokens};
        if constexpr (Parts::has_frame) {
            const Tensor values = inputs.frame();
            return scale_patches(values, inputs.frame_observed(), least, nullptr, bound);
        } else {
            const Tensor values = inputs.values();
            return scale_patches(values, observed, least, nullptr, bound);
        }
    }

    /// Embedded tokens, `[batch, 1, variates, tokens, d_model]`.
    static constexpr Tensor tokens(const Inputs<Parts>& inputs, const ScaledPatches& scaled) {
        using Projections = toto2::Projections<Parts>;
        Recorder& r = inputs.recorder();
        // Without a known future, all behind the context is unknown.
        constexpr Index given = sizes.known_future ? Parts::first_tokens : sizes.context_patches;
        // A slice of all would keep them from being written to where both lie side by side.
        const auto of_given = [](Tensor x) { return x.extent(3) == given ? x : slice(x, 3, 0, given); };
        const Tensor values = of_given(scaled.values);
        const Tensor missing = of_given(scaled.missing);
        constexpr Index added = Parts::first_tokens - given;
        if constexpr (!Parts::rewrites.constant_unknown) {
            if constexpr (added > 0) {
                const Shape behind = with_axis(values.shape(), 3, added);
                const Tensor zeros = concatenate(values, expand(r.constant(0), behind), 3);
                return Projections::embed(zeros, concatenate(missing, expand(r.constant(1), behind), 3));
            } else {
                return Projections::embed(values, missing);
            }
        } else {
            const Tensor unknown = Projections::embed_unknown(r);
            const Tensor length = reshape(cast(inputs.length(), DType::f32), {sizes.batch, 1, 1, 1, 1});
            Tensor is_unknown = less(length - 0.5, reshape(r.iota(given), {given, 1}));
            if constexpr (sizes.known_future) {
                is_unknown = is_unknown * (1.0 - inputs.is_known());
            }
            const Tensor x = where(is_unknown, unknown, Projections::embed(values, missing));
            if constexpr (added > 0) {
                return concatenate(x, expand(unknown, with_axis(x.shape(), 3, added)), 3);
            } else {
                return x;
            }
        }
    }

    /// The group of each token, i32 `[batch, variates, tokens]`; -1 for patches of context without an observation.
    static constexpr Tensor token_ids(const Inputs<Parts>& inputs, const typename Inputs<Parts>::Newest& newest) {
        Recorder& r = inputs.recorder();
        const Shape patches{sizes.batch, sizes.variates, sizes.context_patches};
        // Anew, so that a device need not wait for what scales the series.
        const Tensor observed = reshape(cast(sum(inputs.observed()), DType::i32), patches);
        const Tensor of_context = where(equal(observed, 0), r.constant(-1, DType::i32), inputs.groups());
        const Tensor padded =
            tokens_behind > 0 ? concatenate(of_context, newest.groups_of(tokens_behind), 2) : of_context;
        const Tensor is_context =
            less(r.iota(Parts::first_tokens, DType::i32), reshape(inputs.length(), {sizes.batch, 1, 1}));
        return where(is_context, padded, newest.groups_of(Parts::first_tokens));
    }

    /// What later passes need to know of the tokens of this one.
    static constexpr void keep_ids(const Inputs<Parts>& inputs, Tensor ids,
                                   const typename Inputs<Parts>::Newest& newest) {
        Recorder& r = inputs.recorder();
        const Tensor visible = r.state(states::visible, Parts::visible_shape, DType::i32);
        const Tensor one = r.constant(1, DType::i32);
        r.store(visible, equal(ids, newest.groups_of(Parts::first_tokens)), 2, 0);
        r.store(visible, expand(one, {sizes.batch, sizes.variates, sizes.steps}), 2, Parts::first_tokens);
        if constexpr (Parts::inference.reference_block_groups) {
            r.store(r.state(states::token_ids, ids.shape(), DType::i32), ids);
        }
    }

    static constexpr void finish(const Inputs<Parts>& inputs, Tensor quantiles) {
        Recorder& r = inputs.recorder();
        Tensor result = quantiles;
        if constexpr (sizes.known_future) {
            const Tensor future = slice(inputs.future(), 3, 0, Parts::block);
            const Tensor observed = slice(inputs.future_observed(), 3, 0, Parts::block);
            result = with_known(quantiles, future, inputs.is_known() * observed);
            quantiles = with_known(quantiles, future, inputs.is_known());
        }
        r.store(inputs.forecast(), Quantiles<Parts>::as_result(result), 3, 0);
        if constexpr (Parts::has_blocks) {
            r.store_at(inputs.frame(), Quantiles<Parts>::median(quantiles), 3, inputs.length());
            typename Parts::BlockCache(r, states::forecast_cache, states::row_bounds()).reset();
        }
    }

public:
    /// Quantiles with the future in their place where it is known. Results have the model's own quantiles in the gaps
    /// of such a future, the frame zeros, as the reference's context has.
    static constexpr Tensor with_known(Tensor quantiles, Tensor future, Tensor is_known) {
        const Tensor known = reshape(nn::without_marks(future), with_last(future.shape(), 1));
        return where(reshape(is_known, with_last(is_known.shape(), 1)), known, quantiles);
    }
};

/// Forecasts the next block: the medians of the one before are history to it.
template <Toto2Model Model, Bucket bucket>
struct Next {
    using Parts = toto2::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> inputs(r);
        LaterPass<Parts> pass(inputs);
        const Tensor position = pass.position();
        observe_block(inputs, position);
        const Tensor values = inputs.frame();
        const ScaledPatches scaled = scale_patches(
            values, inputs.frame_observed(), Parts::inference.scaler_fallback_min_obs, nullptr, states::asked_tokens);
        Parts::tap("tap.later_location", scaled.location);
        Parts::tap("tap.later_scale", scaled.scale);
        // Of the last patch that has values: statistics do not change behind it.
        const Tensor newest = position + static_cast<double>(Parts::block - 1);
        const Tensor location = take(scaled.location, 3, newest);
        const Tensor scale = take(scaled.scale, 3, newest);

        const Tensor x = tokens(inputs, scaled, position);
        Parts::tap("tap.later_embeddings", x);
        const Tensor head = Projections<Parts>::head(Stack<Parts>::record(x, ids(inputs), pass));
        Tensor quantiles = Quantiles<Parts>(inputs).record(head, location, scale);
        const Tensor patch = pass.before() + static_cast<double>(Parts::block);
        Tensor result = quantiles;
        if constexpr (sizes.known_future) {
            using First = toto2::First<Model, bucket>;
            const Tensor future = nn::rows_from(inputs.future(), patch, Parts::block);
            const Tensor observed = nn::rows_from(inputs.future_observed(), patch, Parts::block);
            result = First::with_known(quantiles, future, inputs.is_known() * observed);
            quantiles = First::with_known(quantiles, future, inputs.is_known());
        }
        r.store_at(inputs.forecast(), Quantiles<Parts>::as_result(result), 3, patch);
        r.store_at(inputs.frame(), Quantiles<Parts>::median(quantiles), 3, inputs.length() + patch);
        pass.advance();
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;

    /// Targets are observed in the block before; of others is known what was known.
    static constexpr void observe_block(const Inputs<Parts>& inputs, Tensor position) {
        Recorder& r = inputs.recorder();
        const Shape shape{sizes.batch, 1, sizes.variates, Parts::block, sizes.patch_size};
        Tensor observed = expand(r.constant(1), shape);
        if constexpr (sizes.known_future) {
            const Tensor known = nn::rows_from(inputs.frame_observed(), position, Parts::block);
            observed = where(inputs.is_known(), known, observed);
        }
        r.store_at(inputs.frame_observed(), observed, 3, position);
    }

    /// The block before with its values, none of which counts as missing; then what is to be forecast.
    static constexpr Tensor tokens(const Inputs<Parts>& inputs, const ScaledPatches& scaled, Tensor position) {
        using Projections = toto2::Projections<Parts>;
        Recorder& r = inputs.recorder();
        constexpr Index added = Parts::later_tokens - Parts::block;
        const Shape before{sizes.batch, 1, sizes.variates, Parts::block, sizes.patch_size};
        const Tensor none_missing = expand(r.constant(0), before);
        if constexpr (added == 0) {
            return Projections::embed(nn::rows_from(scaled.values, position, Parts::block), none_missing);
        } else if constexpr (sizes.known_future || !Parts::rewrites.constant_unknown) {
            const Tensor values = nn::rows_from(scaled.values, position, Parts::later_tokens);
            const Tensor missing = nn::rows_from(scaled.missing, position + static_cast<double>(Parts::block), added);
            const Tensor x = Projections::embed(values, concatenate(none_missing, missing, 3));
            if constexpr (!Parts::rewrites.constant_unknown) {
                return x;
            } else {
                const Tensor is_ahead = less(r.constant(static_cast<double>(Parts::block) - 0.5),
                                             reshape(r.iota(Parts::later_tokens), {Parts::later_tokens, 1}));
                return where(is_ahead * (1.0 - inputs.is_known()), Projections::embed_unknown(r), x);
            }
        } else {
            const Tensor x = Projections::embed(nn::rows_from(scaled.values, position, Parts::block), none_missing);
            return concatenate(x, expand(Projections::embed_unknown(r), with_axis(x.shape(), 3, added)), 3);
        }
    }

    static constexpr Tensor ids(const Inputs<Parts>& inputs) {
        if constexpr (Parts::inference.reference_block_groups) {
            const Shape all{sizes.batch, sizes.variates, Parts::first_tokens};
            return slice(inputs.recorder().state(states::token_ids, all, DType::i32), 2, 0, Parts::later_tokens);
        } else {
            return inputs.newest().groups_of(Parts::later_tokens);
        }
    }
};

}  // namespace totograph::toto2
