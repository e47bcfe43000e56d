// SPDX-License-Identifier: Apache-2.0
// A model that is not Toto: a residual block of the library's parts, with an elementwise and an opaque operation of its
// own. The compiler records, fuses and plans it; both executors of the CPU run it, and their results are compared.
// custom_block_cuda.cu is the same on a GPU.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string_view>

#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/graph/explain.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

#include "custom_block/mixer.hpp"

namespace {
using namespace mixer;

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

/// Rows mix by their averages, then columns.
struct Mixer {
    // NOLINTNEXTLINE(readability-identifier-naming): the library looks for this name
    using operations = OperationSet<Softsign, CausalAverage>;
    static constexpr void record(Recorder& r) {
        Tensor x = r.state("input", {steps, width});
        for (int layer = 0; layer < layers; ++layer) {
            x = MixingBlock(r, layer).record(x, opaque<CausalAverage>(x));
        }
        r.store(r.state("output", {steps, width}), x);
    }
};

using Fused = Program<Mixer>;
using Recorded = Program<Mixer, Passes::none()>;
static_assert(Fused::steps.size() == 4 * layers);  // the average, the norm's row scales, and two GEMMs a layer
static_assert(Fused::kernels.size() == 4);         // which both layers share

template <class Executor>
std::span<const float> run(Executor& executor) {
    auto* input = static_cast<float*>(executor.state("input"));
    fill_input(input);
    executor.template run<0>();
    return {static_cast<const float*>(executor.state("output")), static_cast<std::size_t>(steps * width)};
}

}  // namespace

int main() {
    const Weights weights(std::make_shared<MadeUpWeights>());
    const auto pool = std::make_shared<cpu::ThreadPool>(2);
    cpu::FusedExecutor<float, Fused> fused(weights, pool);
    cpu::EagerExecutor<Recorded> eager(weights, pool);
    const float largest = largest_difference(run(fused), run(eager));
    std::printf("%s", explain<Fused>("mixer").c_str());
    std::printf("%zu nodes became %zu steps; the executors differ by at most %.1e.\n", Recorded::graph.nodes.size(),
                Fused::steps.size(), static_cast<double>(largest));
    return largest < 1e-5F ? 0 : 1;
}
