// SPDX-License-Identifier: Apache-2.0
// A model that is not Toto: a residual block of the library's parts, with an elementwise and an opaque operation of its
// own. The compiler records, fuses and plans it; both executors run it, and their results are compared.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/graph/explain.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/rms_norm.hpp>

namespace {
using namespace totograph;

constexpr Index steps = 12;
constexpr Index width = 20;
constexpr Index hidden = 48;
constexpr int layers = 2;

/// x / (1 + |x|). Written once, for single floats and for vectors of them; it becomes part of the kernel around it.
struct Softsign {
    static constexpr std::string_view name = "softsign";
    template <class T>
    static T apply(T x) {
        using std::abs;
        return x / (T(1.0F) + abs(x));
    }
};

/// The mean of each row and the rows before it, at most three in all: an operation with a kernel of its own.
struct CausalAverage {
    static constexpr std::string_view name = "causal_average";
    static constexpr Shape shape(const Shape& rows) { return rows; }
    template <class Output, class Input>
    static void run(Output out, Input in) noexcept {
        for (Index row = 0; row < Input::shape[0]; ++row) {
            const Index first = std::max<Index>(0, row - 2);
            for (Index column = 0; column < Input::shape[1]; ++column) {
                float sum = 0;
                for (Index earlier = first; earlier <= row; ++earlier) {
                    sum += in(earlier, column);
                }
                out(row, column) = sum / static_cast<float>(row - first + 1);
            }
        }
    }
};

/// x + W_out softsign(W_in norm(average(x))): rows mix, then columns.
constexpr Tensor mixing_block(Tensor x, int layer) {
    Recorder& r = x.recorder();
    const Tensor normed = nn::rms_norm(opaque<CausalAverage>(x), r.weight("layers.{}.norm", {width}, layer), 1e-6);
    const Tensor inner = apply<Softsign>(linear(normed, r.weight("layers.{}.in", {hidden, width}, layer),
                                                r.weight("layers.{}.in_bias", {hidden}, layer)));
    return x + linear(inner, r.weight("layers.{}.out", {width, hidden}, layer),
                      r.weight("layers.{}.out_bias", {width}, layer));
}

struct Mixer {
    // NOLINTNEXTLINE(readability-identifier-naming): the library looks for this name
    using operations = OperationSet<Softsign, CausalAverage>;
    static constexpr void record(Recorder& r) {
        Tensor x = r.state("input", {steps, width});
        for (int layer = 0; layer < layers; ++layer) {
            x = mixing_block(x, layer);
        }
        r.store(r.state("output", {steps, width}), x);
    }
};

using Fused = Program<Mixer>;
using Recorded = Program<Mixer, Passes::none()>;
static_assert(Fused::steps.size() == 4 * layers);  // the average, the norm's row scales, and two products a layer
static_assert(Fused::kernels.size() == 4);         // which both layers share

/// Makes weights up. A checkpoint is another `TensorSource`.
struct MadeUpWeights final : TensorSource {
    void read(const std::string& name, const Shape&, std::span<float> values) const override {
        auto phase = static_cast<double>(name.size());
        for (float& value : values) {
            value = static_cast<float>(0.3 * std::sin(phase += 1.7));
        }
    }
};

template <class Executor>
std::span<const float> run(Executor& executor) {
    auto* input = static_cast<float*>(executor.state("input"));
    for (Index i = 0; i < steps * width; ++i) {
        input[i] = std::cos(0.1F * static_cast<float>(i));
    }
    executor.template run<0>();
    return {static_cast<const float*>(executor.state("output")), static_cast<std::size_t>(steps * width)};
}

}  // namespace

int main() {
    const Weights weights(std::make_shared<MadeUpWeights>());
    const auto pool = std::make_shared<cpu::ThreadPool>(2);
    cpu::FusedExecutor<float, Fused> fused(weights, pool);
    cpu::EagerExecutor<Recorded> eager(weights, pool);
    const auto fast = run(fused);
    float largest = 0;
    for (std::size_t i = 0; const float exact : run(eager)) {
        largest = std::max(largest, std::abs(fast[i++] - exact));
    }
    std::printf("%s", explain<Fused>("mixer").c_str());
    std::printf("%zu nodes became %zu steps; the executors differ by at most %.1e.\n", Recorded::graph.nodes.size(),
                Fused::steps.size(), static_cast<double>(largest));
    return largest < 1e-5F ? 0 : 1;
}
