// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/random.hpp>
#include <totograph/core/random_block.hpp>

using totograph::random_words;
using totograph::RandomWords;
using totograph::sample_student_t;
using totograph::sample_student_t_mixture;
using totograph::SampleKey;
using totograph::uniform_double;
using totograph::uniform_float;

namespace {

constexpr double pi = 3.14159265358979323846;

std::array<std::uint32_t, 4> words_of(const SampleKey& key) {
    const RandomWords words = random_words(key);
    return {words.word[0], words.word[1], words.word[2], words.word[3]};
}

/// The distribution function of Student's t: with t = sqrt(df) tan(angle) its density is c cos(angle)^(df - 1), which
/// Simpson's rule integrates.
double student_t_distribution(double df, double t) {
    constexpr int steps = 400;
    const double end = std::atan(t / std::sqrt(df));
    const double width = end / steps;
    double sum = 1.0 + std::pow(std::cos(end), df - 1.0);
    for (int step = 1; step < steps; ++step) {
        sum += (step % 2 == 0 ? 2.0 : 4.0) * std::pow(std::cos(width * step), df - 1.0);
    }
    const double scale = std::exp(std::lgamma((df + 1.0) / 2.0) - std::lgamma(df / 2.0)) / std::sqrt(pi);
    return 0.5 + scale * sum * width / 3.0;
}

std::vector<double> student_t_samples(double df, int count) {
    std::vector<double> samples;
    for (int time = 0; time < count; ++time) {
        const RandomWords words = random_words({.seed = 17, .variate = 3, .time = static_cast<std::uint32_t>(time)});
        samples.push_back(sample_student_t(df, uniform_double(words.word[1]), uniform_double(words.word[2])));
    }
    return samples;
}

struct Mixture {
    std::vector<float> df;
    std::vector<float> loc;
    std::vector<float> scale;
    std::vector<float> probabilities;

    [[nodiscard]] float sample(const SampleKey& key) const {
        return sample_student_t_mixture(static_cast<int>(df.size()), df.data(), loc.data(), scale.data(),
                                        probabilities.data(), key);
    }
};

}  // namespace

TEST_CASE("random words are Philox4x32 with ten rounds") {
    // Random123 1.14, tests/kat_vectors, lines `philox4x32 10`: counter, key, result.
    struct Known {
        std::array<std::uint32_t, 4> counter;
        std::array<std::uint32_t, 2> key;
        std::array<std::uint32_t, 4> expected;
    };
    const Known vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const Known& known : vectors) {
        CHECK(words_of({.seed = (std::uint64_t{known.key[1]} << 32U) | known.key[0],
                        .series = known.counter[3],
                        .variate = known.counter[2],
                        .sample = known.counter[1],
                        .time = known.counter[0]}) == known.expected);
    }
}

TEST_CASE("the same key gives the same words, and each field of it other ones") {
    const SampleKey key{.seed = 7, .series = 1, .variate = 2, .sample = 3, .time = 4};
    CHECK(words_of(key) == words_of(key));
    std::vector<SampleKey> others(6, key);
    others[0].seed = 8;
    others[1].seed += std::uint64_t{1} << 32U;
    others[2].series = 9;
    others[3].variate = 9;
    others[4].sample = 9;
    others[5].time = 9;
    for (const SampleKey& other : others) {
        CHECK(words_of(other) != words_of(key));
    }
}

TEST_CASE("uniform numbers stay strictly between 0 and 1 and are symmetric") {
    CHECK(uniform_float(0) == 0x1p-24F);
    CHECK(uniform_float(0xffffffff) == 1.0F - 0x1p-24F);
    CHECK(uniform_double(0) == 0x1p-33);
    CHECK(uniform_double(0xffffffff) == 1.0 - 0x1p-33);
    CHECK(uniform_double(0x80000000) == 0.5 + 0x1p-33);
}

TEST_CASE("uniform numbers have the moments of the uniform distribution") {
    constexpr int count = 100000;
    std::array<double, 4> sum{};
    std::array<double, 4> squares{};
    double product = 0.0;
    double largest_gap = 0.0;
    for (int time = 0; time < count; ++time) {
        const RandomWords words = random_words({.seed = 99, .time = static_cast<std::uint32_t>(time)});
        for (std::size_t at = 0; at < 4; ++at) {
            const double centred = uniform_double(words.word[at]) - 0.5;
            const double coarse = static_cast<double>(uniform_float(words.word[at])) - 0.5;
            largest_gap = std::max(largest_gap, std::fabs(coarse - centred));
            sum[at] += centred;
            squares[at] += centred * centred;
        }
        product += (uniform_double(words.word[0]) - 0.5) * (uniform_double(words.word[1]) - 0.5);
    }
    CHECK(largest_gap <= 0x1p-24);  // half a cell of the float's
    // Four standard errors: a correct generator fails one such check in 16,000; the seed is fixed.
    const double errors = 4.0 / std::sqrt(count);
    for (std::size_t at = 0; at < 4; ++at) {
        CHECK(std::fabs(sum[at] / count) <= errors * std::sqrt(1.0 / 12.0));
        CHECK(std::fabs(squares[at] / count - 1.0 / 12.0) <= errors * std::sqrt(1.0 / 180.0));
    }
    CHECK(std::fabs(product / count) <= errors / 12.0);
}

TEST_CASE("a t variate keeps its digits in the tail, in the centre, at large df and near the cosine's zeros") {
    const double first = uniform_double(0);
    const double last = uniform_double(0xffffffff);
    const double quarter = 0.25 + 0x1p-33;
    const auto near = [](double expected) { return doctest::Approx(expected).epsilon(1e-11); };
    // Each expectation is the formula, simplified by hand at that place.
    CHECK(sample_student_t(2.0, first, first) == near(std::sqrt(2.0 * (0x1p33 - 1.0))));
    CHECK(sample_student_t(1e15, 0.3, 0.5) == near(-std::sqrt(-2.0 * std::log(0.3))));
    CHECK(sample_student_t(3.0, last, first) / std::sqrt(0x1p-32) == doctest::Approx(1.0).epsilon(1e-9));
    CHECK(sample_student_t(1e9, last, first) / std::sqrt(0x1p-32) == doctest::Approx(1.0).epsilon(1e-9));
    CHECK(sample_student_t(2.0, 0.25, quarter) / -std::sin(2.0 * pi * 0x1p-33) == near(std::sqrt(6.0)));
    CHECK(sample_student_t(2.0, 0.25, 1.0 / 8.0) == near(std::sqrt(3.0)));
}

TEST_CASE("t samples have the mean, the variance and the quantiles of Student's distribution") {
    // Quantiles at 0.75, 0.9, 0.99, 0.999: the inverse of 1 - I(df / (df + t^2); df/2, 1/2) / 2, computed with mpmath
    // 1.3 at 30 digits. Those for whole df agree with printed tables (df 4: 0.741, 1.533, 3.747, 7.173).
    struct Known {
        double df;
        std::array<double, 4> quantiles;
    };
    const Known table[] = {{2.5, {0.785013682992, 1.73025092881, 5.35311117303, 13.8221931109}},
                           {4.0, {0.740697084113, 1.53320627406, 3.74694738798, 7.17318221978}},
                           {30.0, {0.682755693321, 1.31041502539, 2.4572615424, 3.38518486683}},
                           {200.0, {0.675718411404, 1.28579879399, 2.34513708226, 3.13147981422}}};
    constexpr std::array<double, 4> probabilities = {0.75, 0.9, 0.99, 0.999};
    constexpr int count = 200000;
    // Four standard errors of each statistic; the seed is fixed.
    const double errors = 4.0 / std::sqrt(count);
    for (const Known& known : table) {
        CAPTURE(known.df);
        const std::vector<double> samples = student_t_samples(known.df, count);
        double sum = 0.0;
        double squares = 0.0;
        for (const double sample : samples) {
            sum += sample;
            squares += sample * sample;
        }
        const double variance = known.df / (known.df - 2.0);
        CHECK(std::fabs(sum / count) <= errors * std::sqrt(variance));
        if (known.df > 4.0) {  // below, the sample variance itself has no variance to bound it with
            const double kurtosis = 3.0 + 6.0 / (known.df - 4.0);
            CHECK(std::fabs(squares / count - variance) <= errors * variance * std::sqrt(kurtosis - 1.0));
        }
        for (std::size_t at = 0; at < probabilities.size(); ++at) {
            const double probability = probabilities[at];
            const double quantile = known.quantiles[at];
            CHECK(student_t_distribution(known.df, quantile) == doctest::Approx(probability).epsilon(1e-9));
            const auto below = std::count_if(samples.begin(), samples.end(), [&](double t) { return t < quantile; });
            const auto above = std::count_if(samples.begin(), samples.end(), [&](double t) { return t > -quantile; });
            const double allowed = errors * std::sqrt(probability * (1.0 - probability));
            CHECK(std::fabs(static_cast<double>(below) / count - probability) <= allowed);
            CHECK(std::fabs(static_cast<double>(above) / count - probability) <= allowed);
        }
    }
}

TEST_CASE("mixture samples follow the mixture's distribution function") {
    const Mixture mixture{{2.5F, 8.0F, 60.0F}, {-3.0F, 0.5F, 4.0F}, {0.5F, 1.5F, 0.2F}, {0.3F, 0.5F, 0.2F}};
    constexpr int count = 20000;
    std::vector<double> samples;
    for (std::uint32_t sample = 0; sample < count; ++sample) {
        samples.push_back(static_cast<double>(mixture.sample({.seed = 5, .series = 2, .sample = sample, .time = 8})));
    }
    std::sort(samples.begin(), samples.end());
    double largest = 0.0;
    for (std::size_t at = 0; at < samples.size(); ++at) {
        double expected = 0.0;
        for (std::size_t component = 0; component < mixture.df.size(); ++component) {
            const double standardized = (samples[at] - static_cast<double>(mixture.loc[component])) /
                                        static_cast<double>(mixture.scale[component]);
            expected += static_cast<double>(mixture.probabilities[component]) *
                        student_t_distribution(static_cast<double>(mixture.df[component]), standardized);
        }
        const double rank = static_cast<double>(at);
        largest = std::max({largest, expected - rank / count, (rank + 1.0) / count - expected});
    }
    // Kolmogorov-Smirnov at the level 0.001: 1.95 / sqrt(n).
    CHECK(largest <= 1.95 / std::sqrt(count));
}

TEST_CASE("of a draw, word 0 chooses the component, words 1 and 2 make the variate") {
    // Random123's words for the key of zeros. Bailey's formula of the middles of their cells, df 4, is
    // -0.0459535602620311 (Python).
    constexpr std::uint32_t word = 0x6627e8d5;
    const Mixture one{{4.0F}, {1.0F}, {2.0F}, {1.0F}};
    CHECK(one.sample({}) == doctest::Approx(0.9080928794759378).epsilon(1e-7));  // rounded to float
    // A component's part of the unit interval is half open: at its end the next one begins. Floats hold that end, the
    // uniform number itself, in two pieces.
    constexpr std::uint32_t middle = 2 * word + 1;
    constexpr std::uint32_t low = middle & 0xfffU;
    const Mixture next{{50.0F, 50.0F, 50.0F},
                       {0.0F, 1.0F, 2.0F},
                       {1e-6F, 1e-6F, 1e-6F},
                       {static_cast<float>(middle - low) * 0x1p-33F, static_cast<float>(low) * 0x1p-33F, 0.6F}};
    CHECK(std::lround(next.sample({})) == 2);
}

TEST_CASE("the component is chosen by weight, never one of weight 0, also when the weights sum to less than 1") {
    // Scales of almost zero: the sample tells which component it came from.
    const auto frequencies = [](const std::vector<float>& probabilities) {
        Mixture mixture;
        for (std::size_t component = 0; component < probabilities.size(); ++component) {
            mixture.df.push_back(50.0F);
            mixture.loc.push_back(static_cast<float>(component));
            mixture.scale.push_back(1e-6F);
        }
        mixture.probabilities = probabilities;
        std::vector<double> frequency(probabilities.size(), 0.0);
        constexpr int count = 20000;
        for (std::uint32_t time = 0; time < count; ++time) {
            const long chosen = std::lround(mixture.sample({.seed = 3, .time = time}));
            frequency.at(static_cast<std::size_t>(chosen)) += 1.0 / count;
        }
        return frequency;
    };
    const double allowed = 4.0 * 0.5 / std::sqrt(20000.0);  // four standard errors at most
    const std::vector<double> plain = frequencies({0.0F, 0.6F, 0.0F, 0.4F, 0.0F});
    CHECK(plain[0] + plain[2] + plain[4] == 0.0);
    CHECK(std::fabs(plain[1] - 0.6) <= allowed);
    const std::vector<double> lacking = frequencies({0.25F, 0.25F, 0.0F});
    CHECK(std::fabs(lacking[0] - 0.25) <= allowed);
    CHECK(std::fabs(lacking[1] - 0.75) <= allowed);
    CHECK(lacking[2] == 0.0);
    const std::vector<double> single = frequencies({1.0F});
    CHECK(single[0] == doctest::Approx(1.0));
}

TEST_CASE("a draw is NaN where a parameter that it is made of is no finite number") {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Mixture good{.df = {5, 7}, .loc = {1, 2}, .scale = {0.5F, 0.25F}, .probabilities = {0.5F, 0.5F}};
    const auto draw = [](const Mixture& mixture, std::uint32_t time) {
        return mixture.sample({.seed = 3, .time = time});
    };
    for (std::uint32_t time = 0; time < 50; ++time) {
        CHECK(std::isfinite(draw(good, time)));
        Mixture bad = good;
        bad.probabilities = {none, none};  // the softmax of logits with one that is not finite
        CHECK(std::isnan(draw(bad, time)));
        for (const float value : {none, infinity}) {
            for (std::vector<float> Mixture::*parameter : {&Mixture::df, &Mixture::loc, &Mixture::scale}) {
                bad = good;
                bad.*parameter = {value, value};
                CHECK(!std::isfinite(draw(bad, time)));
            }
        }
    }
}

TEST_CASE("a block of draws is the draws one by one") {
    for (const std::uint32_t time : {0U, 7U, 123456789U, 0xffffffffU - 10U}) {
        SampleKey key;
        key.seed = 0x0123456789abcdefU + time;
        key.series = 3;
        key.variate = 0x80000001U;
        key.sample = 0xffffffffU;
        key.time = time;
        const totograph::RandomBlock block = totograph::random_block(key);
        for (std::size_t i = 0; i < totograph::RandomBlock::draws; ++i) {
            key.time = time + static_cast<std::uint32_t>(i);  // wraps around
            const auto words = words_of(key);
            for (std::size_t word = 0; word < 4; ++word) {
                CHECK(block.word[word][i] == words[word]);
            }
        }
    }
}
