// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

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
        const Tensor x = r.state("x", {rows, width});
        using Packed = nn::SwiGlu<nn::SwiGluSize{.width = width, .hidden = hidden}>;
        const Packed packed{.gate = {.projection = {r, "in"_name}}, .down = {r, "down"_name}};
        r.store(r.state("out", {rows, width}), packed.record(x));

        constexpr nn::SwiGluSize plain{.width = width, .hidden = hidden, .bias = false};
        using Separate = nn::SwiGlu<plain, nn::SeparateGate<plain>>;
        const Separate separate{.gate = {.gate = {r, "gate"_name}, .up = {r, "up"_name}}, .down = {r, "down"_name}};
        r.store(r.state("out.separate", {rows, width}), separate.record(x));

        using Mlp = nn::ResidualMlp<nn::ResidualMlpSize{.in = width, .hidden = hidden, .out = 2}>;
        const Mlp mlp{.first = {r, "first"_name}, .second = {r, "second"_name}, .skip = {r, "skip"_name}};
        r.store(r.state("out.mlp", {rows, 2}), mlp.record(x));
        r.store(r.state("out.joined", {rows, 2}), mlp.record_joined(x));

        using Gelu = nn::GeluMlp<nn::GeluMlpSize{.width = width, .hidden = hidden}>;
        const Gelu gelu{.first = {r, "first"_name}, .second = {r, "last"_name}};
        r.store(r.state("out.gelu", {rows, width}), gelu.record(x));
    }
};

double silu_of(double x) {
    return x / (1.0 + std::exp(-x));
}

/// Its tanh form.
double gelu_of(double x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

/// Row `unit` of a weight, times x, plus the bias if there is one of this name.
template <class Row>
double projected(const Row& x, Index length, const std::string& name, Index unit, bool bias = true) {
    double sum = bias ? weight(name + ".bias", unit) : 0.0;
    for (Index k = 0; k < length; ++k) {
        sum += x(k) * weight(name + ".weight", unit * length + k);
    }
    return sum;
}

}  // namespace

TEST_CASE("feed-forward layers: gated with packed weights, with separate ones, with a skip connection, and GELU") {
    run_on_both<Model>(
        [](auto&) {},
        [](auto& executor) {
            const auto x = state_of<float>(executor, "x");
            const auto out = state_of<float>(executor, "out");
            const auto separate = state_of<float>(executor, "out.separate");
            const auto mlp = state_of<float>(executor, "out.mlp");
            const auto joined = state_of<float>(executor, "out.joined");
            const auto gelu = state_of<float>(executor, "out.gelu");
            for (Index row = 0; row < rows; ++row) {
                const auto at = [&](Index k) {
                    return static_cast<double>(x[static_cast<std::size_t>(row * width + k)]);
                };
                std::array<double, hidden> packed_inner{};
                std::array<double, hidden> separate_inner{};
                std::array<double, hidden> mlp_inner{};
                std::array<double, hidden> gelu_inner{};
                for (Index unit = 0; unit < hidden; ++unit) {
                    const auto place = static_cast<std::size_t>(unit);
                    packed_inner[place] =
                        silu_of(projected(at, width, "in", unit)) * projected(at, width, "in", hidden + unit);
                    separate_inner[place] =
                        silu_of(projected(at, width, "gate", unit, false)) * projected(at, width, "up", unit, false);
                    mlp_inner[place] = silu_of(projected(at, width, "first", unit));
                    gelu_inner[place] = gelu_of(projected(at, width, "first", unit));
                }
                const auto of = [](const std::array<double, hidden>& inner) {
                    return [&inner](Index k) { return inner[static_cast<std::size_t>(k)]; };
                };
                for (Index column = 0; column < width; ++column) {
                    const auto place = static_cast<std::size_t>(row * width + column);
                    CHECK(out[place] == near(projected(of(packed_inner), hidden, "down", column)));
                    CHECK(gelu[place] == near(projected(of(gelu_inner), hidden, "last", column)));
                    CHECK(separate[place] == near(projected(of(separate_inner), hidden, "down", column, false)));
                }
                for (Index column = 0; column < 2; ++column) {
                    const auto place = static_cast<std::size_t>(row * 2 + column);
                    const double expected =
                        projected(of(mlp_inner), hidden, "second", column) + projected(at, width, "skip", column);
                    CHECK(mlp[place] == near(expected));
                    CHECK(joined[place] == near(expected));
                }
            }
        });
}
