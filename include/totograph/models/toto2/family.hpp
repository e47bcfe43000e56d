// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <totograph/core/not_finite.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/forecast/states.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/toto2/checkpoint_rules.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/inference.hpp>
#include <totograph/models/toto2/parts.hpp>
#include <totograph/models/toto2/programs.hpp>
#include <totograph/models/toto2/rewrites.hpp>

namespace totograph::toto2 {

/// A model whose algorithm is rewritten otherwise; it reads the model's checkpoint, and forecasts the same to rounding.
template <Toto2Model Model, Rewrites chosen>
struct WithRewrites {
    using Checkpoint = typename CheckpointOf<Model>::type;
    static constexpr Toto2Config config = Model::config;
    static constexpr Inference inference = inference_of<Model>;
    static constexpr Rewrites rewrites = chosen;
};

/// The levels of Toto 2.0's quantiles.
inline constexpr std::array<double, Toto2Config::levels> levels{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

/// Toto 2.0 as a `ForecastFamily`: nine quantiles, of all steps in one pass or block by block.
template <class Model>
struct Family {
    static constexpr ResultKind results{.levels = levels, .not_finite = NotFinite::by_mark};
    static constexpr bool takes_future_gaps = true;
    /// Layers over time hide other groups by the mask of missing values alone.
    static constexpr bool takes_groups_by_step = inference_of<Model>.has_missing_values;
    static constexpr Imputation imputation = inference_of<Model>.imputation;
    static constexpr CheckpointRules checkpoint = checkpoint_rules;
    /// Two variates, or queries and keys of variate layers would be left out.
    static constexpr Bucket smallest_bucket{.variates = 2, .context = 1, .horizon = 1};

    static constexpr ForecastSizes sizes(const Bucket& bucket) { return forecast_sizes<Model>(bucket); }

    static constexpr Index rows(const Bucket& bucket) {
        const ForecastSizes s = sizes(bucket);
        return s.batch * s.variates * s.all_patches();
    }

    template <Bucket bucket>
    static consteval bool check() {
        constexpr Inference inference = inference_of<Model>;
        constexpr ForecastSizes s = sizes(bucket);
        static_assert(inference.decode_block_size >= 0 && inference.decode_block_size % Model::config.patch_size == 0,
                      "totograph: decode_block_size must be a multiple of the patch size, or 0 for one pass.");
        static_assert(inference.scaler_fallback_min_obs >= 0 && inference.quantile_real_cap_k >= 0,
                      "totograph: scaler_fallback_min_obs and quantile_real_cap_k must not be negative.");
        static_assert(s.all_patches() <= Toto2Config::most_positions,
                      "totograph: context and horizon together are at most 8192 patches of a Toto 2.0 model.");
        return toto2::check_config<Model>();
    }

    static void check_config(const io::ModelConfig& file) { check_config_file(file, Model::config); }

    static void fill(StateMemory memory, const ForecastSizes& sizes, const Series& series, const Bucket& request,
                     std::uint64_t seed, std::uint32_t first_sample) {
        InputStates(sizes, memory).fill(series, request, seed, first_sample, imputation);
    }

    /// The first pass forecasts all patches, or those of the first block, and later ones a block each.
    template <Bucket bucket>
    struct Schedule {
        using Parts = toto2::Parts<Model, bucket>;
        static constexpr std::size_t count = Parts::has_blocks ? 2 : 1;

        using Models = std::conditional_t<Parts::has_blocks, ModelList<First<Model, bucket>, Next<Model, bucket>>,
                                          ModelList<First<Model, bucket>>>;
        static constexpr std::array<std::string_view, count> names = [] {
            std::array<std::string_view, count> result{Parts::has_blocks ? "first" : "forecast"};
            result[count - 1] = Parts::has_blocks ? "next" : "forecast";
            return result;
        }();
        static constexpr std::array<std::string_view, count> titles = [] {
            std::array<std::string_view, count> result{Parts::has_blocks ? "first: the context and the first block"
                                                                         : "forecast: the context and all patches"};
            result[count - 1] = Parts::has_blocks ? "next: one further block" : result[0];
            return result;
        }();

        static constexpr Index runs(std::size_t program, Index horizon) {
            const Index patches = divide_rounding_up(horizon, Model::config.patch_size);
            return program == 0 ? 1 : divide_rounding_up(patches, Parts::block) - 1;
        }
    };
};

}  // namespace totograph::toto2
