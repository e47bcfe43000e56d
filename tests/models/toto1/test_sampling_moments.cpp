// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"
#include "models/toto1/weights.hpp"

// Samples of the first patch against the distribution that the head states for it.
//
// Bounds are so many standard errors of a statistic of 4096 independent draws, which the test computes from the
// distribution itself. Seeds are fixed, so a test passes always or never; five standard errors would turn down a
// correct sampler for one statistic in 1.7 million.

using namespace made_up;
using Model = fixture::models::Small;

namespace {

constexpr tg::Bucket bucket{.variates = 3, .context = 40, .horizon = 8, .samples = 4096};
constexpr std::size_t draws = 4096;
constexpr double standard_errors = 5;

/// The distribution function of Student's t: with t = sqrt(df) tan(angle) its density is c cos(angle)^(df - 1), which
/// Simpson's rule integrates: with 40 steps to 5e-6, where the least standard error below is 1.5e-3.
double student_t_distribution(double df, double t) {
    constexpr int steps = 40;
    const double end = std::atan(t / std::sqrt(df));
    const double width = end / steps;
    double sum = 1.0 + std::pow(std::cos(end), df - 1.0);
    for (int step = 1; step < steps; ++step) {
        sum += (step % 2 == 0 ? 2.0 : 4.0) * std::pow(std::cos(width * step), df - 1.0);
    }
    const double scale = std::exp(std::lgamma((df + 1.0) / 2.0) - std::lgamma(df / 2.0)) / std::sqrt(M_PI);
    return 0.5 + scale * sum * width / 3.0;
}

struct Component {
    double df, location, scale, probability;
};

/// A mixture of Student-t distributions, on the scale of the series.
struct Mixture {
    std::vector<Component> components;

    [[nodiscard]] double mean() const {
        double total = 0;
        for (const Component& each : components) {
            total += each.probability * each.location;
        }
        return total;
    }
    [[nodiscard]] double variance() const {
        double total = 0;
        for (const Component& each : components) {
            const double deviation = each.location - mean();
            total += each.probability * (each.scale * each.scale * each.df / (each.df - 2.0) + deviation * deviation);
        }
        return total;
    }
    /// E (x - mean)^4; needs more than four degrees of freedom.
    [[nodiscard]] double fourth_moment() const {
        double total = 0;
        for (const Component& each : components) {
            const double deviation = each.location - mean();
            const double inner = each.scale * each.scale * each.df / (each.df - 2.0);
            const double fourth = 3.0 * inner * inner * (each.df - 2.0) / (each.df - 4.0);
            total += each.probability * (std::pow(deviation, 4) + 6.0 * deviation * deviation * inner + fourth);
        }
        return total;
    }
    [[nodiscard]] double distribution(double x) const {
        double total = 0;
        for (const Component& each : components) {
            total += each.probability * student_t_distribution(each.df, (x - each.location) / each.scale);
        }
        return total;
    }
};

/// Samples of one patch, with the distribution of each point.
class Experiment {
public:
    explicit Experiment(const tg::ModelWeights<Model>& weights) : forecaster_(weights, {.threads = 2}) {
        const Request request = waves(1, bucket.variates, bucket.context);
        forecast_ = forecaster_.forecast(request.series(), {.seed = 20240607});
        const auto df = stated("tap.df");
        const auto location = stated("tap.loc");
        const auto scale = stated("tap.scale");
        const auto probability = stated("tap.probs");
        affine_location_ = fixture::repeat(stated("tap.affine_loc"), points());
        affine_scale_ = fixture::repeat(stated("tap.affine_scale"), points());
        const auto count = static_cast<std::size_t>(Model::config.components());
        REQUIRE(df.size() == points() * count);
        for (std::size_t point = 0; point < points(); ++point) {
            Mixture mixture;
            for (std::size_t i = point * count; i < (point + 1) * count; ++i) {
                mixture.components.push_back(
                    {df[i], static_cast<double>(location[i]) * affine_scale_[point] + affine_location_[point],
                     static_cast<double>(scale[i]) * affine_scale_[point], probability[i]});
            }
            mixtures_.push_back(mixture);
        }
    }

    [[nodiscard]] static std::size_t points() { return static_cast<std::size_t>(bucket.variates * bucket.horizon); }
    [[nodiscard]] const tg::Forecast& forecast() const { return forecast_; }
    [[nodiscard]] const std::vector<Mixture>& mixtures() const { return mixtures_; }
    /// What the program left in a tap; the first patch has the same content for all samples.
    [[nodiscard]] std::vector<float> stated(const char* tap) {
        const auto all = forecaster_.read_state<float>(tap);
        return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / draws)};
    }
    [[nodiscard]] std::span<const float> samples(std::size_t point) const {
        return forecast_.samples().subspan(point * draws, draws);
    }

private:
    tg::Forecaster<tg::toto1::WithRewrites<Model, tg::toto1::Rewrites{.keep_intermediates = true}>, bucket> forecaster_;
    tg::Forecast forecast_;
    std::vector<float> affine_location_;
    std::vector<float> affine_scale_;
    std::vector<Mixture> mixtures_;
};

tg::ModelWeights<Model> loaded() {
    return tg::load<Model>(fixture::folder("mixture"));
}

/// As it is, the model has between 2 and 4 degrees of freedom, for which a sample's variance has no standard error.
/// With about 10 more it has one.
tg::ModelWeights<Model> with_light_tails() {
    return fixture::changed_weights(loaded(), [](const std::string& name, const tg::Shape&, std::span<float> values) {
        if (name == "model.output_distribution.df.bias") {
            for (float& value : values) {
                value += 10.0F;
            }
        }
    });
}

}  // namespace

TEST_CASE("the mean of samples is the mixture's") {
    for (const auto& weights : {loaded(), with_light_tails()}) {
        Experiment experiment(weights);
        const auto means = experiment.forecast().mean();
        const auto stated = experiment.stated("tap.mean");
        for (std::size_t point = 0; point < Experiment::points(); ++point) {
            CAPTURE(point);
            const Mixture& mixture = experiment.mixtures()[point];
            const double deviation = std::sqrt(mixture.variance());
            CHECK(std::abs(static_cast<double>(means[point]) - mixture.mean()) <
                  standard_errors * deviation / std::sqrt(static_cast<double>(draws)));
            // The mean that the program computes for a mean forecast, up to rounding in f32.
            CHECK(std::abs(static_cast<double>(stated[point]) - mixture.mean()) <
                  1e-5 * (deviation + std::abs(mixture.mean())));
        }
    }
}

TEST_CASE("the variance of samples is the mixture's") {
    Experiment experiment(with_light_tails());
    const auto deviations = experiment.forecast().stddev();
    const auto stated = experiment.stated("tap.variance");
    for (std::size_t point = 0; point < Experiment::points(); ++point) {
        CAPTURE(point);
        const Mixture& mixture = experiment.mixtures()[point];
        const double variance = mixture.variance();
        const double error = std::sqrt((mixture.fourth_moment() - variance * variance) / static_cast<double>(draws));
        const double found = static_cast<double>(deviations[point]) * static_cast<double>(deviations[point]);
        CHECK(std::abs(found - variance) < standard_errors * error);
        CHECK(std::abs(static_cast<double>(stated[point]) - variance) < 1e-5 * variance);
    }
}

TEST_CASE("quantiles of samples are the mixture's") {
    for (const auto& weights : {loaded(), with_light_tails()}) {
        Experiment experiment(weights);
        for (const double level : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
            CAPTURE(level);
            const auto quantiles = experiment.forecast().quantile(level);
            const double error = std::sqrt(level * (1.0 - level) / static_cast<double>(draws));
            for (std::size_t point = 0; point < Experiment::points(); ++point) {
                CAPTURE(point);
                const double found = experiment.mixtures()[point].distribution(static_cast<double>(quantiles[point]));
                CHECK(std::abs(found - level) < standard_errors * error);
            }
        }
    }
}

TEST_CASE("samples follow the mixture's distribution, independently of each other") {
    Experiment experiment(loaded());
    std::vector<std::vector<double>> uniform(Experiment::points());
    for (std::size_t point = 0; point < uniform.size(); ++point) {
        for (const float value : experiment.samples(point)) {
            uniform[point].push_back(experiment.mixtures()[point].distribution(static_cast<double>(value)));
        }
    }
    // Kolmogorov and Smirnov: the largest distance exceeds 2.7 / sqrt(n) once in 2 million.
    for (std::size_t point = 0; point < uniform.size(); ++point) {
        CAPTURE(point);
        auto sorted = uniform[point];
        std::sort(sorted.begin(), sorted.end());
        double distance = 0;
        for (std::size_t i = 0; i < draws; ++i) {
            const double below = static_cast<double>(i) / static_cast<double>(draws);
            distance = std::max({distance, sorted[i] - below, below + 1.0 / static_cast<double>(draws) - sorted[i]});
        }
        CHECK(distance < 2.7 / std::sqrt(static_cast<double>(draws)));
    }
    // The product of two independent uniform numbers around 0 has mean 0 and deviation 1/12.
    const auto correlation = [&](std::size_t a, std::size_t b, std::size_t lag) {
        double total = 0;
        for (std::size_t i = 0; i < draws; ++i) {
            total += (uniform[a][i] - 0.5) * (uniform[b][(i + lag) % draws] - 0.5);
        }
        return 12.0 * total / static_cast<double>(draws);
    };
    for (std::size_t a = 0; a < uniform.size(); ++a) {
        CAPTURE(a);
        CHECK(std::abs(correlation(a, a, 1)) < standard_errors / std::sqrt(static_cast<double>(draws)));
        for (std::size_t b = 0; b < a; ++b) {
            CAPTURE(b);
            CHECK(std::abs(correlation(a, b, 0)) < standard_errors / std::sqrt(static_cast<double>(draws)));
        }
    }
}
