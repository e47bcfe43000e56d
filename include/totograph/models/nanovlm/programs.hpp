// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/nanovlm/inputs.hpp>
#include <totograph/models/nanovlm/language.hpp>
#include <totograph/models/nanovlm/next_token.hpp>
#include <totograph/models/nanovlm/parts.hpp>
#include <totograph/models/nanovlm/states.hpp>
#include <totograph/models/nanovlm/vision.hpp>
#include <totograph/nn/attention.hpp>

// The programs of a call: pixels to rows, prompts to their first token, and one more token each time.

namespace totograph::nanovlm {

/// From pixels to the rows that stand for images in the sequence.
template <NanoVlmModel Model, Bucket bucket>
struct See {
    using Parts = nanovlm::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        using Vision = nanovlm::Vision<Parts::config.vit>;
        const Inputs<Parts> in(r);
        Tensor x = Vision::embed(in.pixels());
        Parts::tap("tap.patch_embedding", x);
        x = repeat(Parts::config.vit.vit_n_blocks, x, [](Tensor input, LayerIndex number) {
            const Tensor result = Vision::layer(input, number);
            Parts::tap("tap.vit_layer", result, number);
            return result;
        });
        x = Vision::finish(x);
        Parts::tap("tap.vit_out", x);
        const Tensor shuffled = Vision::shuffle(x);
        Parts::tap("tap.pixel_shuffled", shuffled);
        const Tensor rows = in.image_rows();
        r.store(rows, reshape(Vision::template project<Parts::width>(shuffled), rows.shape()));
    }
};

/// Reads the prompts, once for all samples, fills the caches, and chooses the first token.
template <NanoVlmModel Model, Bucket bucket>
struct Prefill {
    using Parts = nanovlm::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> in(r);
        const Tensor length = in.length();
        Tensor x = embed(in);
        Parts::tap("tap.inputs_embeds", x);
        typename Parts::Prefix prefix(r, states::prefix);
        const typename Language::Rotation rotation = rotation_of(in);
        x = repeat(Parts::config.lm.lm_n_blocks, x, [&](Tensor input, LayerIndex number) {
            const auto layer = Language::layer(r, number);
            const Tensor result = layer.record(input, [&](const nn::QueryKeyValue& projected) {
                const auto rotated = rotation.apply(projected);
                prefix.fill(number, rotated.key, rotated.value);
                return layer.attention.causal(rotated.query, prefix.keys(number), prefix.values(number), length);
            });
            Parts::tap("tap.layer", result, number);
            return result;
        });
        if constexpr (Parts::is_inspected) {
            const Tensor hidden = Language::norm(x);
            Parts::tap("tap.hidden", hidden);
            Parts::tap("tap.logits", Language::logits(hidden));
        }
        const Tensor nothing = expand(r.constant(0, DType::i32), Shape{1});
        record_next_token(in, take(x, 3, length - 1.0), nothing);
        if constexpr (Parts::horizon > 1) {
            typename Parts::Suffix(r, states::suffix).reset();
        }
        (void)in.request();
    }

private:
    using Language = nanovlm::Language<Parts::config.lm>;

    /// Rows of tokens. Where a token stands for an image, its row takes the place: which one is data, and shapes are
    /// not.
    static constexpr Tensor embed(const Inputs<Parts>& in) {
        const Tensor tokens = Language::embed(in.tokens());
        if constexpr (Parts::config.images == 0) {
            return tokens;
        } else {
            const Tensor row = in.image_row();
            const Tensor image = embedding(in.image_rows(), maximum(row, 0.0));
            const Shape one_each{bucket.batch, 1, 1, Parts::context, 1};
            return where(cast(reshape(less(row, 0.0), one_each), DType::f32), tokens, image);
        }
    }

    static constexpr typename Language::Rotation rotation_of(const Inputs<Parts>& in) {
        Recorder& r = in.recorder();
        Tensor positions = reshape(r.iota(Parts::context), {Parts::context, 1, 1});
        if constexpr (Parts::may_rescale) {
            const Tensor first = reshape(cast(in.first_position(), DType::f32), {bucket.batch, 1, 1, 1, 1, 1});
            positions = Language::rescale(positions + first, in.longest());
        }
        const typename Language::Rotation rotation(positions);
        Parts::tap("tap.rope_cos", rotation.tables().query_cosine);
        Parts::tap("tap.rope_sin", rotation.tables().query_sine);
        return rotation;
    }
};

/// Chooses one token more, with keys and values of all before from the caches.
template <NanoVlmModel Model, Bucket bucket>
struct Decode {
    using Parts = nanovlm::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> in(r);
        const typename Parts::Prefix prefix(r, states::prefix);
        typename Parts::Suffix suffix(r, states::suffix);
        const Tensor length = in.length();
        const Tensor newest = suffix.length();
        const Tensor own = newest + 1.0;
        const typename Language::Rotation rotation = rotation_of(in, length, newest);

        constexpr Shape tokens{bucket.batch, Parts::sizes.samples, 1, 1};
        Tensor x = Language::embed(cast(reshape(take(in.drawn(), 3, newest), tokens), DType::i32));
        x = repeat(Parts::config.lm.lm_n_blocks, x, [&](Tensor input, LayerIndex number) {
            const auto layer = Language::layer(r, number);
            return layer.record(input, [&](const nn::QueryKeyValue& projected) {
                const auto rotated = rotation.apply(projected);
                suffix.append(number, rotated.key, rotated.value);
                return layer.attention.cached(rotated.query, {prefix.keys(number), prefix.values(number), length},
                                              {suffix.keys(number), suffix.values(number), own});
            });
        });
        record_next_token(in, x, in.step());
        suffix.advance(1);
    }

private:
    using Language = nanovlm::Language<Parts::config.lm>;

    static constexpr typename Language::Rotation rotation_of(const Inputs<Parts>& in, Tensor length, Tensor newest) {
        Tensor position = cast(length + newest, DType::f32);
        if constexpr (Parts::may_rescale) {
            position =
                Language::rescale(cast(in.first_position(), DType::f32) + position, in.longest() + (newest + 1.0));
        }
        const typename Language::Rotation rotation(reshape(position, {bucket.batch, 1, 1, 1, 1, 1}));
        Parts::tap("tap.step_rope_cos", rotation.tables().query_cosine);
        Parts::tap("tap.step_rope_sin", rotation.tables().query_sine);
        return rotation;
    }
};

}  // namespace totograph::nanovlm
