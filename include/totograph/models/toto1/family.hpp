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
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/toto1/checkpoint_rules.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/forecast_sizes.hpp>
#include <totograph/models/toto1/programs.hpp>
#include <totograph/models/toto1/rewrites.hpp>

namespace totograph::toto1 {

/// The rewrites of the algorithm that a model is computed with: all, unless it names others (`WithRewrites`).
template <class Model>
inline constexpr Rewrites rewrites_of = [] {
    if constexpr (requires { Model::rewrites; }) {
        return Rewrites(Model::rewrites);
    } else {
        return Rewrites{};
    }
}();

/// A model whose algorithm is rewritten otherwise; it reads the model's checkpoint, and forecasts the same to rounding.
template <Toto1Model Model, Rewrites chosen>
struct WithRewrites {
    using Checkpoint = typename CheckpointOf<Model>::type;
    static constexpr Toto1Config config = Model::config;
    static constexpr Rewrites rewrites = chosen;
};

/// Toto 1.0 as a `ForecastFamily`: samples and means of a mixture of Student-t distributions, patch by patch.
template <class Model>
struct Family {
    static constexpr ResultKind results{.samples = true, .mean = true, .not_finite = NotFinite::by_mark};
    static constexpr Imputation imputation = Imputation::as_given;
    static constexpr CheckpointRules checkpoint = checkpoint_rules;
    /// Two variates, or the GEMMs of space-wise attention would be left out.
    static constexpr Bucket smallest_bucket{.batch = 1, .variates = 2, .context = 1, .horizon = 1, .samples = 0};

    static constexpr ForecastSizes sizes(const Bucket& bucket) { return forecast_sizes(Model::config, bucket); }

    static constexpr Index rows(const Bucket& bucket) {
        const ForecastSizes s = sizes(bucket);
        return s.batch * s.variates * (s.context_patches + s.samples * s.steps);
    }

    template <Bucket bucket>
    static consteval bool check() {
        return toto1::check_config<Model>();
    }

    static void check_config(const io::ModelConfig& file) { check_config_file(file, Model::config); }

    static void fill(StateMemory memory, const ForecastSizes& sizes, const Series& series, const Bucket& request,
                     std::uint64_t seed, std::uint32_t first_sample) {
        InputStates(sizes, memory).fill(series, request, seed, first_sample);
    }

    /// A prefill forecasts the first patch, and each decode step one more. Without a KV cache, each step computes the
    /// whole history again.
    template <Bucket bucket>
    struct Schedule {
        static constexpr Rewrites rewrites = rewrites_of<Model>;
        static constexpr bool has_cache = rewrites.kv_cache;

        using Models =
            std::conditional_t<has_cache, ModelList<Prefill<Model, bucket, rewrites>, Decode<Model, bucket, rewrites>>,
                               ModelList<BeginHistory<Model, bucket, rewrites>, Recompute<Model, bucket, rewrites>>>;
        static constexpr std::array<std::string_view, 2> names{has_cache ? "prefill" : "begin",
                                                               has_cache ? "decode" : "recompute"};
        static constexpr std::array<std::string_view, 2> titles{
            has_cache ? "prefill: the context and the first patch" : "begin",
            has_cache ? "decode: one further patch" : "recompute: one patch"};

        static constexpr Index runs(std::size_t program, Index horizon) {
            const Index patches = divide_rounding_up(horizon, Model::config.patch_size);
            return program == 0 ? 1 : patches - (has_cache ? 1 : 0);
        }
    };
};

}  // namespace totograph::toto1
