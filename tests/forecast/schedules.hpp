// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/family.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/io/checkpoint/model_config.hpp>

#include "support/tensor_sources.hpp"

// Families that count how often their programs run: one of three programs, and one whose first program is repeated.
namespace schedules {

namespace tg = totograph;
using tg::Bucket;
using tg::Index;
using tg::Shape;
using tg::Tensor;

enum class Kind : std::uint8_t {
    three,     ///< Begins with twice the newest step; counts up, a step of the horizon a run; multiplies.
    repeated,  ///< Adds 1 to the series, a run for each step of the horizon; tells its newest step.
};

template <Bucket bucket>
struct Parts {
    static constexpr Shape one{bucket.batch, 1, bucket.variates, 1, 1};
    static constexpr Shape result{bucket.batch, 1, bucket.variates, bucket.horizon, 1};

    static constexpr Tensor forecast(tg::Recorder& r) { return r.state(tg::states::forecast, result); }
    static constexpr Tensor count(tg::Recorder& r) { return r.state("count", one); }
    static constexpr Tensor at(tg::Recorder& r) { return r.state("at", {1}, tg::DType::i32); }
    static constexpr Tensor series(tg::Recorder& r) {
        return r.state(tg::states::series, {bucket.batch, 1, bucket.variates, bucket.context});
    }
    static constexpr Tensor newest(tg::Recorder& r) {
        const Tensor length = r.state(tg::states::length, {bucket.batch}, tg::DType::i32);
        return reshape(take(series(r), 3, length - 1.0), one);
    }
};

template <Bucket bucket>
struct Begin : Parts<bucket> {
    static constexpr void record(tg::Recorder& r) {
        (void)r.state(tg::states::request, {tg::states::request_size}, tg::DType::i32);
        r.store(Begin::count(r), Begin::newest(r) * r.weight("begin", {1}));
        r.store(Begin::at(r), expand(r.constant(0, tg::DType::i32), Shape{1}));
    }
};
template <Bucket bucket>
struct Count : Parts<bucket> {
    static constexpr void record(tg::Recorder& r) {
        r.store(Count::count(r), Count::count(r) + 1.0);
        r.store_at(Count::forecast(r), Count::count(r), 3, Count::at(r));
        r.store(Count::at(r), Count::at(r) + 1.0);
    }
};
template <Bucket bucket>
struct Multiply : Parts<bucket> {
    static constexpr void record(tg::Recorder& r) {
        r.store(Multiply::forecast(r), Multiply::forecast(r) * r.weight("factor", {1}));
    }
};

template <Bucket bucket>
struct AddOne : Parts<bucket> {
    static constexpr void record(tg::Recorder& r) { r.store(AddOne::series(r), AddOne::series(r) + 1.0); }
};
template <Bucket bucket>
struct Tell : Parts<bucket> {
    static constexpr void record(tg::Recorder& r) {
        (void)r.state(tg::states::request, {tg::states::request_size}, tg::DType::i32);
        r.store(Tell::forecast(r), expand(Tell::newest(r) * r.weight("factor", {1}), Tell::result));
    }
};

template <class Model>
struct Family {
    static constexpr tg::ResultKind results{.mean = true};
    static constexpr tg::CheckpointRules checkpoint{.family = "schedules"};
    static constexpr Bucket smallest_bucket{.context = 1, .horizon = 1};

    static constexpr tg::ForecastSizes sizes(const Bucket& bucket) { return {bucket, 1}; }
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
        static constexpr bool is_three = Model::config.kind == Kind::three;
        using Models = std::conditional_t<is_three, tg::ModelList<Begin<bucket>, Count<bucket>, Multiply<bucket>>,
                                          tg::ModelList<AddOne<bucket>, Tell<bucket>>>;
        static constexpr auto names = [] {
            if constexpr (is_three) {
                return std::array<std::string_view, 3>{"begin", "count", "multiply"};
            } else {
                return std::array<std::string_view, 2>{"add", "tell"};
            }
        }();
        static constexpr auto titles = names;
        static constexpr Index runs(std::size_t program, Index horizon) {
            return program == (is_three ? 1U : 0U) ? horizon : 1;
        }
    };
};

struct Config {
    template <class Model>
    using Family = schedules::Family<Model>;

    Kind kind = Kind::three;
};

struct Three {
    static constexpr Config config{.kind = Kind::three};
};
struct Repeated {
    static constexpr Config config{.kind = Kind::repeated};
};

inline constexpr Bucket bucket{.batch = 2, .variates = 2, .context = 5, .horizon = 4};

/// The newest step is multiplied by 2, of three programs, and what is forecast by 3.
template <class Model>
tg::ModelWeights<Model> weights() {
    return {tg::Weights(std::make_shared<tg::test::TensorMap>(
        std::map<std::string, std::vector<float>>{{"begin", {2}}, {"factor", {3}}}))};
}

inline const std::vector<float> history{5, 1, 6, 2, 7, 3, 8, 4};  // of four variates, the newest step last

inline tg::Series series() {
    return {.batch = 2, .variates = 2, .steps = 2, .values = history};
}

/// What a model forecasts for `series()`, `[batch, variates, horizon]`.
template <class Model>
std::vector<float> expected(Index horizon) {
    std::vector<float> values;
    for (std::size_t row = 0; row < 4; ++row) {
        for (Index step = 0; step < horizon; ++step) {
            const bool is_three = Model::config.kind == Kind::three;
            const float begin = (is_three ? 2.0F : 1.0F) * history[2 * row + 1];
            values.push_back(3 * (begin + static_cast<float>(is_three ? step + 1 : horizon)));
        }
    }
    return values;
}

/// Forecasts of any horizon, in any order. Of small integers: no rounding.
template <class Model, class Forecaster>
void check_horizons(Forecaster& forecaster) {
    for (const Index horizon : {4, 1, 3, 4, 2}) {
        CAPTURE(horizon);
        const tg::Forecast found = forecaster.forecast(series(), {.horizon = horizon});
        CHECK(std::vector<float>(found.values().begin(), found.values().end()) == expected<Model>(horizon));
    }
}

}  // namespace schedules
