// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

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
constexpr double minimum_scale = 0.1;

struct Model {
    static constexpr void record(Recorder& r) {
        const Shape shape{2, 1, 2, steps};
        const Tensor x = r.state("x", shape);
        const Tensor observed = r.state("observed", shape);
        const auto whole = nn::causal_moments(x, observed);
        r.store(r.state("out.mean", shape, DType::f64), whole.mean);
        r.store(r.state("out.variance", shape, DType::f64), whole.variance);
        // The same in two parts, the second of one step and more.
        const auto part = [&](Tensor tensor, Index begin, Index count) { return slice(tensor, -1, begin, count); };
        const auto head = nn::causal_moments(part(x, 0, first_part), part(observed, 0, first_part));
        const auto one = nn::causal_moments(part(x, first_part, 1), part(observed, first_part, 1), &head.running);
        const auto tail = nn::causal_moments(part(x, first_part + 1, steps - first_part - 1),
                                             part(observed, first_part + 1, steps - first_part - 1), &one.running);
        const Shape last{2, 1, 2, steps - first_part - 1};
        r.store(r.state("out.tail.mean", last, DType::f64), tail.mean);
        r.store(r.state("out.tail.variance", last, DType::f64), tail.variance);

        const auto global = nn::global_statistics(x, observed, minimum_scale);
        r.store(r.state("out.global.mean", {2, 1, 2, 1}, DType::f64), global.mean);
        r.store(r.state("out.global.scale", {2, 1, 2, 1}, DType::f64), global.scale);
        const Tensor scale = sqrt(whole.variance + 1e-3);
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
