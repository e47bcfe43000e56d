// SPDX-License-Identifier: Apache-2.0
#include "run_on_cpu.hpp"

#include <memory>

#include <totograph/exec/cpu/fused_executor.hpp>

#include "mixer.hpp"

namespace mixer {

std::vector<float> run_on_cpu() {
    const Weights weights(std::make_shared<MadeUpWeights>());
    cpu::FusedExecutor<float, Program<PlainMixer>> executor(weights, std::make_shared<cpu::ThreadPool>(1));
    fill_input(static_cast<float*>(executor.state("input")));
    executor.run<0>();
    const auto* output = static_cast<const float*>(executor.state("output"));
    return {output, output + steps * width};
}

}  // namespace mixer
