// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/layer_norm.hpp>
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
        const Tensor x = r.state("x", {2, 3, width});
        const nn::RmsNorm<nn::RmsNormSize{.width = width}> rms(r, "scale"_name, epsilon);
        const nn::LayerNorm<nn::LayerNormSize{.width = width}> layer(r, "layer"_name, epsilon);
        r.store(r.state("out", {2, 3, width}), rms.record(x));
        r.store(r.state("out.layer", {2, 3, width}), layer.record(x));
    }
};

}  // namespace

TEST_CASE("a root mean square norm, and a layer norm") {
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
            const auto layer = state_of<float>(executor, "out.layer");
            for (Index row = 0; row < rows; ++row) {
                double squares = 0;
                double mean = 0;
                for (Index column = 0; column < width; ++column) {
                    const double value = x[static_cast<std::size_t>(row * width + column)];
                    squares += value * value;
                    mean += value / static_cast<double>(width);
                }
                const double variance = squares / static_cast<double>(width) - mean * mean;
                const double size = std::sqrt(squares / static_cast<double>(width) + epsilon);
                for (Index column = 0; column < width; ++column) {
                    const auto at = static_cast<std::size_t>(row * width + column);
                    CHECK(out[at] == near(x[at] / size * weight("scale", column)));
                    const double normed = (x[at] - mean) / std::sqrt(variance + epsilon);
                    CHECK(layer[at] == near(normed * weight("layer.weight", column) + weight("layer.bias", column)));
                }
            }
        });
}
