// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/student_t.hpp>

using totograph::Index;
using totograph::SampleKey;
using totograph::cpu::StudentTMixtureArguments;

namespace {

constexpr Index components = 3;
constexpr Index times = 8;

/// Parameters of one patch, the four kinds of a time next to each other as a head's projection leaves them.
std::vector<float> patch_parameters() {
    std::vector<float> parameters;
    for (Index time = 0; time < times; ++time) {
        const auto step = static_cast<float>(time);
        for (const float value : {2.5F + step, 6.0F, 90.0F,         // df
                                  step, -step, 10.0F * step,        // loc
                                  0.5F, 1.0F + step, 0.25F * step,  // scale
                                  0.2F, 0.5F, 0.3F}) {              // probabilities
            parameters.push_back(value);
        }
    }
    return parameters;
}

StudentTMixtureArguments arguments_of(const std::vector<float>& parameters, float* out, const SampleKey& key) {
    constexpr Index stride = 4 * components;
    return {.df = parameters.data(),
            .loc = parameters.data() + components,
            .scale = parameters.data() + 2 * components,
            .probabilities = parameters.data() + 3 * components,
            .out = out,
            .df_stride = stride,
            .loc_stride = stride,
            .scale_stride = stride,
            .probabilities_stride = stride,
            .components = components,
            .times = times,
            .key = key};
}

}  // namespace

TEST_CASE("each time draws from its own parameters under its own key") {
    const std::vector<float> parameters = patch_parameters();
    const SampleKey key{.seed = 11, .series = 1, .variate = 4, .sample = 200, .time = 64};
    std::vector<float> out(times);
    totograph::cpu::sample_student_t_mixture(arguments_of(parameters, out.data(), key));
    for (Index time = 0; time < times; ++time) {
        const float* const at = parameters.data() + time * 4 * components;
        SampleKey own = key;
        own.time += static_cast<std::uint32_t>(time);
        CHECK(out[static_cast<std::size_t>(time)] ==
              totograph::sample_student_t_mixture(components, at, at + components, at + 2 * components,
                                                  at + 3 * components, own));
    }
}

TEST_CASE("a sample does not depend on where a patch is cut nor on where it is written") {
    const std::vector<float> parameters = patch_parameters();
    const SampleKey key{.seed = 12, .sample = 5, .time = 3};
    std::vector<float> whole(times);
    totograph::cpu::sample_student_t_mixture(arguments_of(parameters, whole.data(), key));
    for (Index first = 0; first < times; ++first) {
        std::vector<float> part(static_cast<std::size_t>(2 * times), -1.0F);
        StudentTMixtureArguments rest = arguments_of(parameters, part.data(), key);
        rest.df += first * rest.df_stride;
        rest.loc += first * rest.loc_stride;
        rest.scale += first * rest.scale_stride;
        rest.probabilities += first * rest.probabilities_stride;
        rest.key.time += static_cast<std::uint32_t>(first);
        rest.times = times - first;
        rest.out_stride = 2;
        totograph::cpu::sample_student_t_mixture(rest);
        for (Index time = 0; time < times; ++time) {
            const auto at = static_cast<std::size_t>(2 * time);
            CHECK(part[at] == (time < rest.times ? whole[static_cast<std::size_t>(first + time)] : -1.0F));
            CHECK(part[at + 1] == -1.0F);
        }
    }
}

TEST_CASE("without weights there is one component, the first") {
    const std::vector<float> parameters = patch_parameters();
    const SampleKey key{.seed = 13};
    const float certain[] = {1.0F};
    std::vector<float> expected(times);
    std::vector<float> found(times);
    StudentTMixtureArguments arguments = arguments_of(parameters, expected.data(), key);
    arguments.components = 1;
    arguments.probabilities = certain;
    arguments.probabilities_stride = 0;
    totograph::cpu::sample_student_t_mixture(arguments);
    arguments.probabilities = nullptr;
    arguments.components = components;
    arguments.out = found.data();
    totograph::cpu::sample_student_t_mixture(arguments);
    CHECK(found == expected);
}

TEST_CASE("a stride of zero draws all times from one distribution, with its mean and variance") {
    // One mixture of two components: mean 0.25 * -2 + 0.75 * 2 = 1, variance by the law of total variance.
    const std::vector<float> df = {10.0F, 20.0F};
    const std::vector<float> loc = {-2.0F, 2.0F};
    const std::vector<float> scale = {1.0F, 0.5F};
    const std::vector<float> probabilities = {0.25F, 0.75F};
    const double variance = 0.25 * (10.0 / 8.0) + 0.75 * (0.25 * 20.0 / 18.0) + 0.25 * 9.0 + 0.75 * 1.0;
    constexpr std::size_t count = 100000;
    std::vector<float> samples(count);
    totograph::cpu::sample_student_t_mixture({.df = df.data(),
                                              .loc = loc.data(),
                                              .scale = scale.data(),
                                              .probabilities = probabilities.data(),
                                              .out = samples.data(),
                                              .components = 2,
                                              .times = static_cast<Index>(count),
                                              .key = {.seed = 14}});
    double sum = 0.0;
    double squares = 0.0;
    double fourths = 0.0;
    for (const float sample : samples) {
        const double centred = static_cast<double>(sample) - 1.0;
        sum += centred;
        squares += centred * centred;
        fourths += centred * centred * centred * centred;
    }
    constexpr auto number = static_cast<double>(count);
    // Four standard errors; that of the variance from the samples' own fourth moment.
    const double errors = 4.0 / std::sqrt(number);
    CHECK(std::fabs(sum / number) <= errors * std::sqrt(variance));
    CHECK(std::fabs(squares / number - variance) <= errors * std::sqrt(fourths / number - variance * variance));
}
