// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/nanovlm/checkpoint_rules.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/models/nanovlm/parts.hpp>
#include <totograph/models/nanovlm/programs.hpp>
#include <totograph/models/nanovlm/states.hpp>

namespace totograph::nanovlm {

/// A bucket for so many prompts.
/// @param tokens      of a prompt, at most
/// @param new_tokens  to choose, at most
/// @param samples     of each prompt, that are drawn; 0 for the likeliest tokens
consteval Bucket token_bucket(Index prompts, Index tokens, Index new_tokens, Index samples = 0) {
    return {.batch = prompts, .context = tokens, .horizon = new_tokens, .samples = samples};
}

namespace detail {

/// Words for the programs that a bucket has.
template <std::size_t count>
constexpr std::array<std::string_view, count> programs_of(bool sees, const std::array<std::string_view, 3>& all) {
    std::array<std::string_view, count> result{};
    std::copy_n(all.begin() + (sees ? 0 : 1), count, result.begin());
    return result;
}

}  // namespace detail

/// nanoVLM as a `ForecastFamily`: tokens behind prompts. `Generator` has a more natural interface.
///
/// A series has one variate, whose steps are the ids of tokens. Leading steps that are not observed are padding, as of
/// a shorter prompt of the batch. Pixels are in a state, which whoever has images writes before (`states::pixels`).
/// The result holds ids; what stands behind an end token is up to the caller.
template <class Model>
struct Family {
    static constexpr ResultKind results{.samples = true, .mean = true};
    static constexpr CheckpointRules checkpoint = checkpoint_rules<Model::config>;
    static constexpr Bucket smallest_bucket = token_bucket(1, 1, 1);

    static constexpr ForecastSizes sizes(const Bucket& bucket) { return {bucket, 1}; }

    static constexpr Index rows(const Bucket& bucket) {
        return bucket.batch * (bucket.context + std::max(Index{1}, bucket.samples) * bucket.horizon);
    }

    template <Bucket bucket>
    static consteval bool check() {
        static_assert(bucket.variates == 1 && bucket.exogenous == 0,
                      "totograph: a bucket of a nanoVLM has one variate: `token_bucket` makes one.");
        return nanovlm::check_config<Model>();
    }

    static void check_config(const io::ModelConfig& file) { check_config_file(file, Model::config); }

    static void fill(StateMemory memory, const ForecastSizes& sizes, const Series& series, const Bucket& request,
                     std::uint64_t seed, std::uint32_t first_sample) {
        const InputStates inputs(sizes, memory);
        inputs.fill(series, request, seed, first_sample);
        inputs.drop_leading_gaps(series);
        if (float* const temperature = memory.floats(states::temperature); temperature != nullptr) {
            *temperature = series.draws.temperature;
            *memory.integers(states::top_k) = series.draws.filter.top_k;
            *memory.floats(states::top_p) = series.draws.filter.top_p;
        }
        fill_positions(memory, sizes, series, request);
        fill_image_rows(memory, sizes, series);
    }

    /// The vision encoder makes rows of pixels, where a call takes images and the model has an encoder. A prefill
    /// chooses the first token of each prompt, and decode steps the others.
    template <Bucket bucket>
    struct Schedule {
        static constexpr bool sees = Model::config.images > 0 && Model::config.has_vision();
        static constexpr bool decodes = bucket.horizon > 1;
        static constexpr std::size_t prefill = sees ? 1 : 0;
        static constexpr std::size_t count = prefill + 1 + (decodes ? 1 : 0);

        using Prefill = nanovlm::Prefill<Model, bucket>;
        using Decode = nanovlm::Decode<Model, bucket>;
        using Tokens = std::conditional_t<decodes, ModelList<Prefill, Decode>, ModelList<Prefill>>;
        using All = std::conditional_t<decodes, ModelList<See<Model, bucket>, Prefill, Decode>,
                                       ModelList<See<Model, bucket>, Prefill>>;
        using Models = std::conditional_t<sees, All, Tokens>;

        static constexpr std::array<std::string_view, count> names =
            detail::programs_of<count>(sees, {"see", "prefill", "decode"});
        static constexpr std::array<std::string_view, count> titles = detail::programs_of<count>(
            sees, {"see: rows of images", "prefill: the prompts and the first token", "decode: one further token"});

        static constexpr Index runs(std::size_t program, Index horizon) { return program > prefill ? horizon - 1 : 1; }
    };

private:
    /// Positions count from the longest prompt's first token, as in the reference, where that can be seen: where
    /// frequencies are divided. Elsewhere only differences count, and each prompt begins at 0, whatever is beside it.
    static void fill_positions(StateMemory memory, const ForecastSizes& sizes, const Series& series,
                               const Bucket& request) {
        std::int32_t* const first = memory.integers(states::first_position);
        if (first == nullptr) {
            return;
        }
        *memory.integers(states::longest) = static_cast<std::int32_t>(series.steps);
        const bool is_rescaled = series.steps + request.horizon > Model::config.lm.lm_max_position_embeddings;
        for (Index b = 0; b < sizes.batch; ++b) {
            const Index length = b < series.batch ? memory.integers(states::length)[b] : series.steps;
            first[b] = is_rescaled ? static_cast<std::int32_t>(series.steps - length) : 0;
        }
    }

    /// Image tokens of the whole batch stand for one row of the images each, in their order.
    static void fill_image_rows(StateMemory memory, const ForecastSizes& sizes, const Series& series) {
        std::int32_t* const rows = memory.integers(states::image_row);
        if (rows == nullptr) {
            return;
        }
        std::fill_n(rows, sizes.batch * sizes.context_steps(), -1);
        const float* const tokens = memory.floats(states::series);
        std::int32_t next = 0;
        for (Index b = 0; b < series.batch; ++b) {
            for (Index t = 0; t < memory.integers(states::length)[b]; ++t) {
                const Index at = b * sizes.context_steps() + t;
                if (tokens[at] == static_cast<float>(Model::config.image_token_id)) {
                    rows[at] = next++;
                }
            }
        }
    }
};

}  // namespace totograph::nanovlm
