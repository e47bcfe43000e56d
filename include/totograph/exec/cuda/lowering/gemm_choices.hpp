// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>

namespace totograph::cuda {

/// How each launch of a program computes its GEMMs on a device: made once, read by each launch and by `explain`.
template <class Program, bool streams>
constexpr std::array<GemmChoice, Lowering<Program, streams>::count> gemm_choices(const DeviceTraits& device,
                                                                                 const Execution& execution) {
    std::array<GemmChoice, Lowering<Program, streams>::count> choices{};
    GemmChoice before;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        choices[i] = select_gemm(Lowering<Program, streams>::at(i).gemm, before, device, execution.fuses);
        before = choices[i];
    }
    return choices;
}

}  // namespace totograph::cuda
