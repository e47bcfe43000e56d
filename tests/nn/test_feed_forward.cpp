// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/feed_forward.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index rows = 3;
constexpr Index width = 6;
constexpr Index hidden = 10;

struct Model {
    static constexpr void record(Recorder& r) {
        const nn::SwiGluWeights weights{r.weight("in", {2 * hidden, width}), r.weight("in.bias", {2 * hidden}),
                                        r.weight("down", {width, hidden}), r.weight("down.bias", {width})};
        r.store(r.state("out", {rows, width}), nn::swiglu_feed_forward(r.state("x", {rows, width}), weights));
    }
};

}  // namespace

TEST_CASE("a gated feed-forward layer, gate first") {
    run_on_both<Model>(
        [](auto&) {},
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            const auto out = state_of<float>(executor, "out");
            for (Index row = 0; row < rows; ++row) {
                const auto project = [&](Index unit) {
                    double sum = weight("in.bias", unit);
                    for (Index k = 0; k < width; ++k) {
                        sum += static_cast<double>(x[static_cast<std::size_t>(row * width + k)]) *
                               weight("in", unit * width + k);
                    }
                    return sum;
                };
                std::array<double, hidden> inner{};
                for (Index unit = 0; unit < hidden; ++unit) {
                    const double gate = project(unit);
                    inner[static_cast<std::size_t>(unit)] = gate / (1.0 + std::exp(-gate)) * project(hidden + unit);
                }
                for (Index column = 0; column < width; ++column) {
                    double sum = weight("down.bias", column);
                    for (Index unit = 0; unit < hidden; ++unit) {
                        sum += inner[static_cast<std::size_t>(unit)] * weight("down", column * hidden + unit);
                    }
                    CHECK(out[static_cast<std::size_t>(row * width + column)] == near(sum));
                }
            }
        });
}
