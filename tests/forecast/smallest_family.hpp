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

// The smallest family that can be: it repeats the newest step, less and more of it as its quantiles. Beside it a model
// that has no number for a negative step, and marks nothing.
namespace smallest_family {

namespace tg = totograph;
using tg::Bucket;
using tg::Index;

inline constexpr std::array<double, 3> levels{0.1, 0.5, 0.9};

/// `[batch, levels, variates, horizon, 1]` from the newest step, which lies before the padding.
template <Bucket bucket, bool is_partial>
struct Repeat {
    static constexpr void record(tg::Recorder& r) {
        namespace states = tg::states;
        (void)r.state(states::request, {tg::states::request_size}, tg::DType::i32);
        const tg::Tensor series = r.state(states::series, {bucket.batch, 1, bucket.variates, bucket.context});
        const tg::Tensor taken = take(series, 3, r.state(states::length, {bucket.batch}, tg::DType::i32) - 1.0);
        const tg::Tensor newest = is_partial ? where(less(taken, 0.0), sqrt(taken), taken) : taken;
        const tg::Tensor factor = reshape(r.weight("factor", {3}), {1, 3, 1, 1, 1});
        const tg::Shape shape{bucket.batch, 3, bucket.variates, bucket.horizon, 1};
        const tg::Tensor spread = reshape(newest, {bucket.batch, 1, bucket.variates, 1, 1}) * factor;
        r.store(r.state(states::forecast, shape), expand(spread, shape));
    }
};

template <class Model>
struct Family {
    static constexpr tg::ResultKind results{.levels = levels};
    static constexpr tg::CheckpointRules checkpoint{.family = "smallest"};
    static constexpr Bucket smallest_bucket{.context = 1, .horizon = 1};

    static constexpr tg::ForecastSizes sizes(const Bucket& bucket) {
        return {bucket, 1, 0, static_cast<Index>(levels.size())};
    }
    static constexpr Index rows(const Bucket& bucket) { return bucket.batch * bucket.variates * bucket.horizon; }
    template <Bucket>
    static consteval bool check() {
        return true;
    }
    static void check_config(const tg::io::ModelConfig&) {}
    static void fill(tg::StateMemory memory, const tg::ForecastSizes& sizes, const tg::Series& series,
                     const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
        tg::InputStates(sizes, memory).fill(series, request, seed, first_sample);
    }

    template <Bucket bucket>
    struct Schedule {
        using Models = tg::ModelList<Repeat<bucket, Model::config.is_partial>>;
        static constexpr std::array<std::string_view, 1> names{"repeat"};
        static constexpr std::array<std::string_view, 1> titles{"repeat: all steps"};
        static constexpr Index runs(std::size_t, Index) { return 1; }
    };
};

struct Config {
    template <class Model>
    using Family = smallest_family::Family<Model>;

    bool is_partial = false;
};

struct Model {
    static constexpr Config config{};
};
struct Partial {
    static constexpr Config config{.is_partial = true};
};

}  // namespace smallest_family
