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
#include <totograph/models/kronos/checkpoint_rules.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/models/kronos/parts.hpp>
#include <totograph/models/kronos/programs.hpp>
#include <totograph/models/kronos/states.hpp>

namespace totograph::kronos {

/// A bucket for so many series of candles: the six columns, and the five stamps as exogenous variates, whose future is
/// known.
consteval Bucket candle_bucket(Index series, Index context, Index horizon, Index paths) {
    return {.batch = series,
            .variates = variate_count,
            .context = context,
            .horizon = horizon,
            .samples = paths,
            .exogenous = stamp_count};
}

namespace detail {

/// Words for the programs that a bucket has.
template <std::size_t count>
constexpr std::array<std::string_view, count> programs_of(bool decodes, bool slides,
                                                          const std::array<std::string_view, 5>& all) {
    std::array<std::string_view, count> result{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((i != 2 || decodes) && (i != 3 || slides)) {
            result[at++] = all[i];
        }
    }
    return result;
}

}  // namespace detail

/// Kronos as a `ForecastFamily`: paths of candles, drawn one by one. `CandleForecaster` has a more natural interface.
///
/// A series has 11 variates: open, high, low, close, volume and amount; then minute, hour, weekday, day and month
/// (`Stamp`), which are exogenous, and known in the future. Leading steps that are not observed are a shorter history;
/// later ones count as they are. `Series::draws` says how ids are drawn; as in the reference, `top_p` counts only where
/// `top_k` is 0.
template <class Model>
struct Family {
    static constexpr ResultKind results{.samples = true};
    static constexpr CheckpointRules checkpoint = checkpoint_rules;
    static constexpr Bucket smallest_bucket = candle_bucket(1, 1, 1, 1);

    static constexpr ForecastSizes sizes(const Bucket& bucket) { return sizes_of(Model::config, bucket); }

    static constexpr Index rows(const Bucket& bucket) {
        return bucket.batch * (bucket.context + bucket.samples * bucket.horizon);
    }

    template <Bucket bucket>
    static consteval bool check() {
        static_assert(bucket.variates == variate_count && bucket.exogenous == stamp_count,
                      "totograph: a bucket of a Kronos model has 11 variates, of which 5 are exogenous: "
                      "`candle_bucket` makes one.");
        static_assert(bucket.horizon <= Model::config.max_context,
                      "totograph: a Kronos model forecasts at most max_context candles.");
        return kronos::check_config<Model>();
    }

    /// Either of the two files of a model: a tokenizer's has `d_in`.
    static void check_config(const io::ModelConfig& file) {
        if (file.contains("d_in")) {
            check_config_file(file, Model::config.tokenizer);
        } else {
            check_config_file(file, Model::config.predictor);
        }
    }

    static void fill(StateMemory memory, const ForecastSizes& sizes, const Series& series, const Bucket& request,
                     std::uint64_t seed, std::uint32_t first_sample) {
        const InputStates inputs(sizes, memory);
        inputs.fill(series, request, seed, first_sample);
        inputs.drop_leading_gaps(series);
        *memory.floats(states::temperature) = series.draws.temperature;
        *memory.integers(states::top_k) = series.draws.filter.top_k;
        *memory.floats(states::top_p) = series.draws.filter.top_k > 0 ? 1.0F : series.draws.filter.top_p;
    }

    /// The tokenizer makes ids of candles. A prefill draws the first candle; decode steps draw those that the predictor
    /// sees with all of the context; for the others the window slides. The end makes candles of ids.
    template <Bucket bucket>
    struct Schedule {
        using Parts = kronos::Parts<Model, bucket>;
        static constexpr bool decodes = Parts::decoded > 0;
        static constexpr bool slides = Parts::decoded < Parts::horizon - 1;
        static constexpr std::size_t count = 3 + (decodes ? 1 : 0) + (slides ? 1 : 0);

        template <class... Steps>
        using Around = ModelList<Encode<Model, bucket>, Prefill<Model, bucket>, Steps..., Reconstruct<Model, bucket>>;
        using Models =
            std::conditional_t<decodes,
                               std::conditional_t<slides, Around<Decode<Model, bucket>, Slide<Model, bucket>>,
                                                  Around<Decode<Model, bucket>>>,
                               std::conditional_t<slides, Around<Slide<Model, bucket>>, Around<>>>;

        static constexpr std::array<std::string_view, count> names =
            detail::programs_of<count>(decodes, slides, {"encode", "prefill", "decode", "slide", "reconstruct"});
        static constexpr std::array<std::string_view, count> titles = detail::programs_of<count>(
            decodes, slides,
            {"encode: ids of candles", "prefill: the context and the first candle", "decode: one further candle",
             "slide: one further candle, from the window alone", "reconstruct: candles of ids"});

        static constexpr Index runs(std::size_t program, Index horizon) {
            if (program <= 1 || program == count - 1) {
                return 1;
            }
            const Index decoded = std::min(horizon - 1, Parts::decoded);
            return decodes && program == 2 ? decoded : horizon - 1 - decoded;
        }
    };
};

}  // namespace totograph::kronos
