// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecaster.hpp>
#include <totograph/forecast/forecaster_options.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/nanovlm/family.hpp>
#include <totograph/models/nanovlm/prompts.hpp>
#include <totograph/models/nanovlm/states.hpp>

namespace totograph::nanovlm {

/// Generates tokens behind prompts: a `Forecaster` whose bucket `token_bucket` has made, with ids and pixels in place
/// of series. A bucket without samples takes the likeliest tokens, one with samples draws.
///
/// One thread at a time may use it; several over the same weights may run at the same time.
template <NanoVlmModel Model, Bucket bucket, auto options = ForecasterOptions{}>
class Generator {
    static constexpr NanoVlmConfig config = Model::config;
    static_assert(config.images == 0 || config.has_vision(),
                  "totograph: a Generator makes rows of images from pixels, which takes a vision encoder; leave images "
                  "out with `TextOnly<Model>`.");

public:
    using Forecaster = totograph::Forecaster<Model, bucket, options>;
    using Resources = typename Forecaster::Resources;

    /// As of `Forecaster`.
    explicit Generator(const WeightsOf<Model>& weights, const Resources& resources = {})
        : forecaster_(weights, resources) {}

    /// Chooses tokens behind each prompt. Prompts may have different lengths. More of them than the bucket's, or with
    /// more images together than the model's, run in parts. Throws `Error` as `check_prompts` and
    /// `Forecaster::forecast` do.
    Generated generate(std::span<const Prompt> prompts, const GenerateOptions& call = {}) {
        check_prompts(prompts, call, {bucket.context, bucket.horizon, config});
        const Index new_tokens = call.new_tokens.value_or(bucket.horizon);
        std::vector<std::int32_t> tokens;
        tokens.reserve(prompts.size() * static_cast<std::size_t>(samples * new_tokens));
        for (std::size_t first = 0; first < prompts.size();) {
            const std::size_t count = fitting(prompts.subspan(first));
            add_part(prompts.subspan(first, count), static_cast<Index>(first), new_tokens, call, tokens);
            first += count;
        }
        return {static_cast<Index>(prompts.size()), samples, new_tokens, call.end_token, std::move(tokens)};
    }
    /// The same of one prompt.
    Generated generate(const Prompt& prompt, const GenerateOptions& call = {}) {
        return generate(std::span(&prompt, 1), call);
    }

    /// What computes it.
    [[nodiscard]] Forecaster& forecaster() { return forecaster_; }

private:
    static constexpr Index samples = std::max(Index{1}, bucket.samples);
    static constexpr bool runs_by_token = std::is_same_v<std::remove_cvref_t<decltype(options)>, ForecasterOptions>;

    /// How many of the first prompts one part holds.
    static std::size_t fitting(std::span<const Prompt> prompts) {
        std::size_t count = 0;
        Index pixels = 0;
        while (count < prompts.size() && static_cast<Index>(count) < bucket.batch) {
            pixels += static_cast<Index>(prompts[count].pixels.size());
            if (pixels > config.images * config.vit.pixels()) {
                break;
            }
            ++count;
        }
        return count;
    }

    /// Appends tokens of some prompts, `[prompts, samples, new_tokens]`.
    void add_part(std::span<const Prompt> prompts, Index first, Index new_tokens, const GenerateOptions& call,
                  std::vector<std::int32_t>& tokens) {
        const PromptBatch batch(prompts, call);
        const bool has_images =
            std::any_of(prompts.begin(), prompts.end(), [](const Prompt& prompt) { return !prompt.pixels.empty(); });
        if constexpr (config.images > 0) {
            forecaster_.write_state(states::pixels, batch.pixels(config));
        }
        const Series series = batch.series(first);
        if constexpr (runs_by_token) {
            run_by_token(series, has_images, new_tokens, call);
            for (Index row = 0; row < series.batch * samples; ++row) {
                const float* const begin = drawn() + row * bucket.horizon;
                std::transform(begin, begin + new_tokens, std::back_inserter(tokens), as_token);
            }
        } else {
            const Forecast forecast = forecaster_.forecast(series, {.seed = call.seed, .horizon = new_tokens});
            const std::span<const float> values = forecast.values();  // [prompts, new_tokens, samples]
            for (Index row = 0; row < series.batch * samples; ++row) {
                for (Index step = 0; step < new_tokens; ++step) {
                    const Index at = (row / samples * new_tokens + step) * samples + row % samples;
                    tokens.push_back(as_token(values[static_cast<std::size_t>(at)]));
                }
            }
        }
    }

    /// -1 where no logit was a number.
    static std::int32_t as_token(float id) { return id >= 0 ? static_cast<std::int32_t>(id) : -1; }

    /// The ids of all tokens so far, `[prompts, samples, horizon]`, where the programs write them.
    [[nodiscard]] const float* drawn() {
        return static_cast<const float*>(forecaster_.executor().state(states::forecast));
    }

    /// Runs the programs until all texts have ended; without images not the vision encoder, whose rows nobody reads
    /// then.
    void run_by_token(const Series& series, [[maybe_unused]] bool has_images, Index new_tokens,
                      const GenerateOptions& call) {
        using Schedule = typename FamilyOf<Model>::template Schedule<bucket>;
        forecaster_.fill(
            series, {.batch = series.batch, .context = series.steps, .horizon = new_tokens, .samples = bucket.samples},
            call.seed);
        if constexpr (Schedule::sees) {
            if (has_images) {
                forecaster_.template run<0>();
            }
        }
        forecaster_.template run<Schedule::prefill>();
        std::vector<bool> has_ended(static_cast<std::size_t>(series.batch * samples));
        for (Index count = 1;; ++count) {
            if (call.on_token) {
                call.on_token(count);
            }
            bool all_have = call.end_token.has_value();
            for (std::size_t row = 0; all_have && row < has_ended.size(); ++row) {
                const std::size_t at = row * static_cast<std::size_t>(bucket.horizon) + static_cast<std::size_t>(count);
                has_ended[row] = has_ended[row] || as_token(drawn()[at - 1]) == *call.end_token;
            }
            all_have = all_have && std::find(has_ended.begin(), has_ended.end(), false) == has_ended.end();
            if (count == new_tokens || all_have) {
                return;
            }
            if constexpr (Schedule::decodes) {
                forecaster_.template run<Schedule::prefill + 1>();
            }
        }
    }

    Forecaster forecaster_;
};

}  // namespace totograph::nanovlm
