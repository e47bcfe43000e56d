// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/extreme_values.hpp>
#include <totograph/nn/student_t.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index batch = 2;
constexpr Index samples = 3;
constexpr Index variates = 2;
constexpr Index patch_size = 4;
constexpr Index width = 5;
constexpr Index components = 3;
constexpr Index rows = batch * variates * patch_size;

template <bool is_mixture>
struct Model {
    static constexpr Index count = is_mixture ? components : 1;

    static constexpr void record(Recorder& r) {
        using Head =
            nn::StudentTHead<nn::StudentTHeadSize{.width = width, .components = count, .is_mixture = is_mixture}>;
        Head head{.degrees_of_freedom = {r, "df"_name},
                  .location = {r, "loc"_name},
                  .scale = {r, "scale"_name},
                  .logits = {}};
        if constexpr (is_mixture) {
            head.logits = {r, "logits"_name};
        }
        const auto mixture = head.record(r.state("x", {batch, 1, variates, 1, patch_size, width}));
        r.tap("out.df", mixture.degrees_of_freedom);
        r.tap("out.loc", mixture.location);
        r.tap("out.scale", mixture.scale);
        r.tap("out.probability", mixture.probability);
        r.tap("out.mean", nn::mixture_mean(mixture));
        r.tap("out.variance", nn::mixture_variance(mixture));
        r.tap("out.samples", nn::sample(mixture, samples, r.state("seed", {2}, DType::i32),
                                        r.state("first", {2}, DType::i32), r.state("patch", {1}, DType::i32)));
    }
};

struct Extremes {
    static constexpr void record(Recorder& r) {
        r.store(r.state("out", {8}), nn::replace_extreme_values(r.state("x", {8})));
        r.store(r.state("out.marked", {8}), nn::mark_extreme_values(r.state("x", {8})));
    }
};

double softplus(double x) {
    return std::log1p(std::exp(x));
}

template <class Mixture, class Executor>
void check_parameters(const Executor& executor) {
    const auto x = state_of<float>(executor, "x");
    const auto parameter = [&](const char* name) { return state_of<float>(executor, name); };
    for (Index row = 0; row < rows; ++row) {
        double mean = 0;
        double total = 0;
        double second = 0;
        const auto project = [&](const std::string& name, Index component) {
            double sum = weight(name + ".bias", component);
            for (Index k = 0; k < width; ++k) {
                sum += static_cast<double>(x[static_cast<std::size_t>(row * width + k)]) *
                       weight(name + ".weight", component * width + k);
            }
            return sum;
        };
        for (Index component = 0; component < Mixture::count; ++component) {
            total += std::exp(project("logits", component));
        }
        for (Index component = 0; component < Mixture::count; ++component) {
            const auto at = static_cast<std::size_t>(row * Mixture::count + component);
            const double freedom = 2.0 + std::max(softplus(project("df", component)), nn::f32_epsilon);
            const double location = project("loc", component);
            const double scale = std::max(softplus(project("scale", component)), nn::f32_epsilon);
            const double probability = Mixture::count == 1 ? 1.0 : std::exp(project("logits", component)) / total;
            CHECK(parameter("out.df")[at] == near(freedom));
            CHECK(parameter("out.loc")[at] == near(location));
            CHECK(parameter("out.scale")[at] == near(scale));
            CHECK(parameter("out.probability")[at] == near(probability));
            mean += probability * location;
            second += probability * (scale * scale * freedom / (freedom - 2.0) + location * location);
        }
        CHECK(parameter("out.mean")[static_cast<std::size_t>(row)] == near(mean));
        const double variance = second - mean * mean;
        CHECK(parameter("out.variance")[static_cast<std::size_t>(row)] ==
              doctest::Approx(variance).epsilon(1e-4).scale(1));  // divides by a small df - 2
    }
}

/// Samples are those of `core/random.hpp` for the parameters that the model found.
template <class Mixture, class Executor>
void check_samples(const Executor& executor) {
    const auto df = state_of<float>(executor, "out.df");
    const auto loc = state_of<float>(executor, "out.loc");
    const auto scale = state_of<float>(executor, "out.scale");
    const auto probability = state_of<float>(executor, "out.probability");
    const auto drawn = state_of<float>(executor, "out.samples");
    std::size_t at = 0;
    for (Index b = 0; b < batch; ++b) {
        for (Index s = 0; s < samples; ++s) {
            for (Index v = 0; v < variates; ++v) {
                for (Index step = 0; step < patch_size; ++step) {
                    const auto from =
                        static_cast<std::size_t>(((b * variates + v) * patch_size + step) * Mixture::count);
                    const SampleKey key{.seed = 0xFFFFFFFE00000011ULL,
                                        .series = static_cast<std::uint32_t>(b + 40),
                                        .variate = static_cast<std::uint32_t>(v),
                                        .sample = static_cast<std::uint32_t>(s + 1000),
                                        .time = static_cast<std::uint32_t>(6 * patch_size + step)};
                    CHECK(drawn[at++] == sample_student_t_mixture(static_cast<int>(Mixture::count), &df[from],
                                                                  &loc[from], &scale[from], &probability[from], key));
                }
            }
        }
    }
}

template <class Mixture>
void check_mixture() {
    run_on_both<Mixture>(
        [](auto& executor) {
            state_of<std::int32_t>(executor, "seed")[0] = 17;
            state_of<std::int32_t>(executor, "seed")[1] = -2;
            state_of<std::int32_t>(executor, "first")[0] = 40;
            state_of<std::int32_t>(executor, "first")[1] = 1000;
            state_of<std::int32_t>(executor, "patch")[0] = 6;
        },
        [](auto& executor) {
            check_parameters<Mixture>(executor);
            check_samples<Mixture>(executor);
        });
}

}  // namespace

TEST_CASE("a mixture of Student-t distributions: parameters, moments, samples") {
    check_mixture<Model<true>>();
}

TEST_CASE("a single Student-t distribution is a mixture of one") {
    check_mixture<Model<false>>();
}

TEST_CASE("values that no forecast should hold become zero") {
    run_on_both<Extremes>(
        [](auto& executor) {
            constexpr float largest = std::numeric_limits<float>::max();
            constexpr float infinite = std::numeric_limits<float>::infinity();
            const std::vector<float> values{1.5F,
                                            -0.25F * largest,
                                            -0.0F,
                                            0.75F * largest,
                                            -0.75F * largest,
                                            infinite,
                                            -infinite,
                                            std::numeric_limits<float>::quiet_NaN()};
            std::copy(values.begin(), values.end(), state_of<float>(executor, "x").begin());
        },
        [](auto& executor) {
            const auto out = state_of<float>(executor, "out");
            CHECK(out[0] == 1.5F);
            CHECK(out[1] == -0.25F * std::numeric_limits<float>::max());
            const auto marked = state_of<float>(executor, "out.marked");
            CHECK(marked[0] == out[0]);
            CHECK(marked[1] == out[1]);
            CHECK(marked[2] == 0.0F);
            CHECK(!std::signbit(marked[2]));  // a zero of the model's own carries no mark
            for (std::size_t at = 3; at < out.size(); ++at) {
                CHECK(out[at] == 0.0F);
                CHECK(!std::signbit(out[at]));
                CHECK(marked[at] == 0.0F);
                CHECK(std::signbit(marked[at]));
            }
        });
}
