// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/scalers.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index rows = 4;
constexpr Index steps = 9;
constexpr Index first_part = 5;
constexpr Index group = 3;
constexpr Index enough = 4;
constexpr double minimum_scale = 0.1;

struct Model {
    static constexpr void record(Recorder& r) {
        const Shape shape{2, 1, 2, steps};
        const Tensor x = r.state("x", shape);
        const Tensor observed = r.state("observed", shape);
        const auto whole = nn::causal_moments(x, &observed, 1);
        r.store(r.state("out.mean", shape, DType::f64), nn::mean_of(whole.at_ends));
        r.store(r.state("out.variance", shape, DType::f64), nn::variance_of(whole.at_ends));
        // The same in two parts, the second of one step and more.
        const auto of_part = [&](Index begin, Index count, const RunningMoments* before, Index each = 1) {
            const auto part = [&](Tensor tensor) { return slice(tensor, -1, begin, count); };
            const Tensor marks = part(observed);
            return nn::causal_moments(part(x), &marks, each, enough, before);
        };
        const auto head = of_part(0, first_part, nullptr);
        const auto one = of_part(first_part, 1, &head.running);
        const auto tail = of_part(first_part + 1, steps - first_part - 1, &one.running);
        const Shape last{2, 1, 2, steps - first_part - 1};
        r.store(r.state("out.tail.mean", last, DType::f64), nn::mean_of(tail.at_ends));
        r.store(r.state("out.tail.variance", last, DType::f64), nn::variance_of(tail.at_ends));
        // At the ends of groups, and where fewer than enough are observed; the last two groups once more on their own.
        const Shape ends{2, 1, 2, steps / group};
        const auto groups = of_part(0, steps, nullptr, group);
        r.store(r.state("out.groups.mean", ends, DType::f64), nn::mean_of(groups.at_ends));
        r.store(r.state("out.groups.variance", ends, DType::f64), nn::variance_of(groups.at_ends));
        r.store(r.state("out.enough.count", ends, DType::f64), groups.of_enough.count);
        r.store(r.state("out.enough.mean", ends, DType::f64), nn::mean_of(groups.of_enough));
        r.store(r.state("out.enough.variance", ends, DType::f64), nn::variance_of(groups.of_enough));
        const auto first_group = of_part(0, group, nullptr, group);
        const auto rest = of_part(group, steps - group, &first_group.running, group);
        const Shape last_ends{2, 1, 2, steps / group - 1};
        r.store(r.state("out.rest.mean", last_ends, DType::f64), nn::mean_of(rest.at_ends));
        r.store(r.state("out.rest.enough", last_ends, DType::f64), nn::variance_of(rest.of_enough));
        // Without marks all count.
        const auto all = nn::causal_moments(x, nullptr, steps);
        r.store(r.state("out.all.variance", {2, 1, 2, 1}, DType::f64), nn::variance_of(all.at_ends));

        const auto global = nn::global_statistics(x, observed, minimum_scale);
        r.store(r.state("out.global.mean", {2, 1, 2, 1}, DType::f64), global.mean);
        r.store(r.state("out.global.scale", {2, 1, 2, 1}, DType::f64), global.scale);
        const Tensor scale = sqrt(nn::variance_of(whole.at_ends) + 1e-3);
        r.store(r.state("out.stable", shape, DType::f64), nn::stabilize(scale, global.scale, 0.5, 2.0, 0.3));
    }
};

/// Mean and variance of the observed among the first `count` steps, in two passes.
struct Statistics {
    double mean = 0;
    double variance = 0;        ///< Divided by one less than the count, but not by less than 1.
    double whole_variance = 0;  ///< Divided by the count.

    Statistics(std::span<const float> x, std::span<const float> observed, Index row, Index count) {
        double number = 0;
        for (Index step = 0; step < count; ++step) {
            const auto at = static_cast<std::size_t>(row * steps + step);
            number += observed[at];
            mean += static_cast<double>(x[at]) * observed[at];
        }
        mean /= std::max(number, 1.0);
        double squares = 0;
        for (Index step = 0; step < count; ++step) {
            const auto at = static_cast<std::size_t>(row * steps + step);
            squares += std::pow(static_cast<double>(x[at]) - mean, 2) * observed[at];
        }
        variance = squares / std::max(number - 1.0, 1.0);
        whole_variance = squares / std::max(number, 1.0);
    }
};

/// How many of the first `count` steps of a row are observed.
double seen(std::span<const float> observed, Index row, Index count) {
    const auto first = observed.begin() + row * steps;
    return static_cast<double>(std::count(first, first + count, 1.0F));
}

/// The steps of a row up to the end of a group, or more: until enough are observed, or to the end.
Index steps_for_enough(std::span<const float> observed, Index row, Index end) {
    while (end < steps && seen(observed, row, end) < static_cast<double>(enough)) {
        ++end;
    }
    return end;
}

doctest::Approx exactly(double expected) {
    return doctest::Approx(expected).epsilon(1e-12).scale(1);
}

}  // namespace

TEST_CASE("moments of what was observed so far, in one go and in parts, and of everything") {
    run_on_both<Model>(
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            const auto observed = state_of<float>(executor, "observed");
            for (std::size_t at = 0; at < observed.size(); ++at) {
                observed[at] = at % 4 == 1 || at < 2 || at / steps == 3 ? 0.0F : 1.0F;  // one row has no observations
            }
            x[2 * steps] = 1e6F;  // a large first value: sums of squares would lose the others
        },
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            const auto observed = state_of<float>(executor, "observed");
            const auto mean = state_of<double>(executor, "out.mean");
            const auto variance = state_of<double>(executor, "out.variance");
            const auto tail_mean = state_of<double>(executor, "out.tail.mean");
            const auto tail_variance = state_of<double>(executor, "out.tail.variance");
            const auto stable = state_of<double>(executor, "out.stable");
            for (Index row = 0; row < rows; ++row) {
                const Statistics all(x, observed, row, steps);
                const std::vector<float> every_step(x.size(), 1.0F);
                CHECK(state_of<double>(executor, "out.all.variance")[static_cast<std::size_t>(row)] ==
                      exactly(Statistics(x, every_step, row, steps).variance));
                for (Index g = 0; g < steps / group; ++g) {
                    const auto at = static_cast<std::size_t>(row * (steps / group) + g);
                    const Index end = (g + 1) * group;
                    const Statistics expected(x, observed, row, end);
                    CHECK(state_of<double>(executor, "out.groups.mean")[at] == exactly(expected.mean));
                    CHECK(state_of<double>(executor, "out.groups.variance")[at] == exactly(expected.variance));
                    const Index reach = steps_for_enough(observed, row, end);
                    const Statistics of_enough(x, observed, row, reach);
                    CHECK(state_of<double>(executor, "out.enough.count")[at] == seen(observed, row, reach));
                    CHECK(state_of<double>(executor, "out.enough.mean")[at] == exactly(of_enough.mean));
                    CHECK(state_of<double>(executor, "out.enough.variance")[at] == exactly(of_enough.variance));
                    if (g > 0) {
                        const auto in_rest = static_cast<std::size_t>(row * (steps / group - 1) + g - 1);
                        CHECK(state_of<double>(executor, "out.rest.mean")[in_rest] == exactly(expected.mean));
                        CHECK(state_of<double>(executor, "out.rest.enough")[in_rest] == exactly(of_enough.variance));
                    }
                }
                const double global = std::sqrt(all.whole_variance + minimum_scale);
                CHECK(state_of<double>(executor, "out.global.mean")[static_cast<std::size_t>(row)] ==
                      exactly(all.mean));
                CHECK(state_of<double>(executor, "out.global.scale")[static_cast<std::size_t>(row)] == exactly(global));
                for (Index step = 0; step < steps; ++step) {
                    const auto at = static_cast<std::size_t>(row * steps + step);
                    const Statistics expected(x, observed, row, step + 1);
                    CHECK(mean[at] == exactly(expected.mean));
                    CHECK(variance[at] == exactly(expected.variance));
                    const double low = std::max(global * 0.5, 0.3);
                    CHECK(stable[at] ==
                          exactly(std::min(std::max(std::sqrt(expected.variance + 1e-3), low), global * 2.0)));
                    if (step > first_part) {
                        const auto in_tail =
                            static_cast<std::size_t>(row * (steps - first_part - 1) + step - first_part - 1);
                        CHECK(tail_mean[in_tail] == exactly(expected.mean));
                        CHECK(tail_variance[in_tail] == exactly(expected.variance));
                    }
                }
            }
        });
}
