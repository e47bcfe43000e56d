// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/forecast/family.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/nn/attention.hpp>

// A second family, as unlike Toto 1.0 as can be: one program, run once, that forecasts quantiles of all patches
// together. Two kinds of layers take turns: over time, where all target patches attend as one block to the context and
// to each other, two heads of 52 sharing one head of keys and values; and over variates of a group.
namespace second_family {

namespace tg = totograph;
using tg::Bucket;
using tg::Index;
using tg::Shape;
using tg::Tensor;

inline constexpr std::array<double, 3> levels{0.1, 0.5, 0.9};

template <class Model>
struct Family;

/// The sizes of a network.
struct Config {
    template <class Model>
    using Family = second_family::Family<Model>;

    Index patch = 4;
    Index heads = 2;
    Index kv_heads = 1;
    Index head_dim = 52;
    Index hidden = 96;
    int repeats = 2;  ///< Of the pair of layers.

    [[nodiscard]] constexpr Index width() const { return heads * head_dim; }
};

/// Context and target patches, each `[batch, 1, variates, patches, width]`.
struct Tokens {
    Tensor context;
    Tensor target;
};

/// The program.
template <class Model, Bucket bucket>
struct OnePass {
    static constexpr Config config = Model::config;
    static constexpr tg::ForecastSizes sizes = Family<Model>::sizes(bucket);
    static constexpr Index width = config.width();

    static constexpr Tensor norm(tg::Recorder& r, Tensor x, std::string_view name, int layer) {
        return x * rsqrt(mean(x * x) + 1e-6) * r.weight(name, {width}, layer);
    }

    static constexpr Tensor feed_forward(tg::Recorder& r, Tensor x, int layer) {
        const Tensor normed = norm(r, x, "layers.{}.ffn_norm", layer);
        const Tensor up = linear(normed, r.weight("layers.{}.up.weight", {config.hidden, width}, layer),
                                 r.weight("layers.{}.up.bias", {config.hidden}, layer));
        return x + linear(silu(up), r.weight("layers.{}.down.weight", {width, config.hidden}, layer),
                          r.weight("layers.{}.down.bias", {width}, layer));
    }

    static constexpr tg::nn::QueryKeyValue project(tg::Recorder& r, Tensor x, int layer) {
        const Tensor normed = norm(r, x, "layers.{}.norm", layer);
        const Index kv_width = config.kv_heads * config.head_dim;
        return {linear(normed, r.weight("layers.{}.query.weight", {width, width}, layer)),
                linear(normed, r.weight("layers.{}.key.weight", {kv_width, width}, layer)),
                linear(normed, r.weight("layers.{}.value.weight", {kv_width, width}, layer))};
    }

    static constexpr Tensor add_output(tg::Recorder& r, Tensor x, Tensor attended, int layer) {
        return feed_forward(r, x + linear(attended, r.weight("layers.{}.out.weight", {width, width}, layer)), layer);
    }

    /// The context is causal; each target patch sees all of the context and all target patches.
    static constexpr Tokens time_layer(tg::Recorder& r, const Tokens& x, int layer) {
        const Tensor length = r.state(tg::states::length, {bucket.batch}, tg::DType::i32);
        const Tensor all = expand(r.constant(static_cast<double>(sizes.steps), tg::DType::i32), Shape{1});
        tg::nn::AttentionOptions options{.heads = config.heads, .kv_heads = config.kv_heads};
        const auto context = project(r, x.context, layer);
        const tg::nn::KeysAndValues known{context.key, context.value, length};
        const auto target = project(r, x.target, layer);
        const Tensor of_context = tg::nn::attention(context.query, known, options);
        options.is_causal = false;
        const Tensor of_target = tg::nn::attention(target.query, known, {target.key, target.value, all}, options);
        return {add_output(r, x.context, of_context, layer), add_output(r, x.target, of_target, layer)};
    }

    static constexpr Tensor among_variates(tg::Recorder& r, Tensor x, Tensor groups, int layer) {
        const auto projected = project(r, x, layer);
        return add_output(
            r, x,
            tg::nn::variate_attention(
                projected.query, projected.key, projected.value,
                {.heads = config.heads, .kv_heads = config.kv_heads, .mask = tg::KeyMask::by_group, .ids = groups}),
            layer);
    }

    static constexpr Tokens variate_layer(tg::Recorder& r, const Tokens& x, int layer) {
        const Tensor groups =
            r.state(tg::states::groups, {bucket.batch, bucket.variates, sizes.context_patches}, tg::DType::i32);
        const Tensor newest =
            expand(slice(groups, 2, sizes.context_patches - 1, 1), Shape{bucket.batch, bucket.variates, sizes.steps});
        return {among_variates(r, x.context, groups, layer), among_variates(r, x.target, newest, layer)};
    }

    static constexpr void record(tg::Recorder& r) {
        namespace states = tg::states;
        (void)r.state(states::request, {tg::states::request_size}, tg::DType::i32);
        const Shape steps{bucket.batch, 1, bucket.variates, sizes.context_steps()};
        const Tensor seen = r.state(states::observed, steps);
        const Tensor series = r.state(states::series, steps) * seen;
        // Mean and deviation of what was observed, `[batch, 1, variates, 1]`.
        const Tensor count = maximum(sum(seen), 1.0);
        const Tensor location = sum(series) / count;
        const Tensor centred = (series - location) * seen;
        const Tensor scale = sqrt(sum(centred * centred) / count) + 1e-3;

        const Shape patches{bucket.batch, 1, bucket.variates, sizes.context_patches, config.patch};
        const Shape targets{bucket.batch, 1, bucket.variates, sizes.steps, width};
        const Tensor ahead = reshape(r.iota(sizes.steps), {sizes.steps, 1}) * 0.1;
        Tokens x{linear(reshape(centred / scale, patches), r.weight("embed.weight", {width, config.patch}),
                        r.weight("embed.bias", {width})),
                 expand(reshape(r.weight("target", {1, width}) * cos(ahead * r.weight("frequencies", {1, width})),
                                {1, 1, 1, sizes.steps, width}),
                        targets)};
        for (int repeat = 0; repeat < config.repeats; ++repeat) {
            x = time_layer(r, x, 2 * repeat);
            x = variate_layer(r, x, 2 * repeat + 1);
        }
        constexpr auto level_count = static_cast<Index>(levels.size());
        const Tensor quantiles = linear(x.target, r.weight("head.weight", {level_count * config.patch, width}),
                                        r.weight("head.bias", {level_count * config.patch}));
        const Tensor by_level =
            permute(reshape(quantiles, {bucket.batch, bucket.variates, sizes.steps, level_count, config.patch}),
                    {0, 3, 1, 2, 4});
        const Shape apart{bucket.batch, 1, bucket.variates, 1, 1};
        r.store(r.state(states::forecast, by_level.shape()),
                by_level * reshape(scale, apart) + reshape(location, apart));
    }
};

template <class Model>
struct Family {
    static constexpr tg::ResultKind results{.levels = levels};
    static constexpr tg::CheckpointRules checkpoint{.family = "second"};
    static constexpr Bucket smallest_bucket{.variates = 2, .context = 1, .horizon = 1};

    static constexpr tg::ForecastSizes sizes(const Bucket& bucket) {
        return {bucket, Model::config.patch, 0, static_cast<Index>(levels.size())};
    }
    static constexpr Index rows(const Bucket& bucket) {
        return bucket.batch * bucket.variates * (sizes(bucket).context_patches + sizes(bucket).steps);
    }
    template <Bucket>
    static consteval bool check() {
        static_assert(Model::config.heads % Model::config.kv_heads == 0,
                      "second: heads must be a multiple of kv_heads.");
        return true;
    }
    static void check_config(const tg::io::ModelConfig& file) {
        tg::io::ConfigCheck check(file);
        check.integer("patch", Model::config.patch);
        check.integer("head_dim", Model::config.head_dim);
        check.finish();
    }
    static void fill(tg::StateMemory memory, const tg::ForecastSizes& sizes, const tg::Series& series,
                     const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
        tg::InputStates(sizes, memory).fill(series, request, seed, first_sample);
    }

    template <Bucket bucket>
    struct Schedule {
        using Models = tg::ModelList<OnePass<Model, bucket>>;
        static constexpr std::array<std::string_view, 1> names{"forecast"};
        static constexpr std::array<std::string_view, 1> titles{"forecast: the context and all patches"};
        static constexpr Index runs(std::size_t, Index) { return 1; }
    };
};

struct Small {
    static constexpr Config config{};
};

}  // namespace second_family
