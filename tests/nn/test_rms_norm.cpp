// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/rms_norm.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index rows = 6;
constexpr Index width = 10;
constexpr double epsilon = 1e-3;

struct Model {
    static constexpr void record(Recorder& r) {
        r.store(r.state("out", {2, 3, width}),
                nn::rms_norm(r.state("x", {2, 3, width}), r.weight("scale", {width}), epsilon));
    }
};

}  // namespace

TEST_CASE("a root mean square norm") {
    run_on_both<Model>(
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            for (std::size_t column = 0; column < width; ++column) {
                x[column] = 0;  // a row of zeros has no direction, and stays zero
            }
        },
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            const auto out = state_of<float>(executor, "out");
            for (Index row = 0; row < rows; ++row) {
                double squares = 0;
                for (Index column = 0; column < width; ++column) {
                    squares += std::pow(x[static_cast<std::size_t>(row * width + column)], 2);
                }
                const double size = std::sqrt(squares / static_cast<double>(width) + epsilon);
                for (Index column = 0; column < width; ++column) {
                    const auto at = static_cast<std::size_t>(row * width + column);
                    CHECK(out[at] == near(x[at] / size * weight("scale", column)));
                }
            }
        });
}
