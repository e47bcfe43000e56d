// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/draw_names.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Draws with the CPU's keys, one a thread: `draw(place, key)` makes the one whose parameters lie at `place`.
template <class K, class Draw>
__device__ __forceinline__ void for_each_draw(const KernelCall& call, const UsedExtents<K>& used, const Draw& draw) {
    // The iteration is [batch, samples, variates, patches, patch_size].
    constexpr auto patch_size = static_cast<std::uint32_t>(K::kernel.iteration[4]);
    const DrawNames<K, 4> names(call);
    const auto first_patch = static_cast<std::uint32_t>(*call.operands[6].get<std::int32_t>(positions_of<K>(call)));
    auto* out = call.output.get<float>(positions_of<K>(call));
    const auto draw_at = [&](const auto& place) {
        auto parameters = place;
        if constexpr (K::kernel.operands[0].shape[1] == 1) {
            parameters.at[1] = 0;
        }
        return draw(parameters, names.key(place, (first_patch + static_cast<std::uint32_t>(place.at[3])) * patch_size +
                                                     static_cast<std::uint32_t>(place.at[4])));
    };
    for_each_place<K, IterationOf<K>, Blocks<>>(
        used, draw_at, [&](const auto& place, float value) { out[offset_of<K, StridesOfOutput<K>>(place)] = value; });
}

/// Components of the mixtures that a draw is from.
template <class K>
inline constexpr int components_of = static_cast<int>(K::kernel.operands[1].shape[5]);

/// Draws from mixtures whose parameters lie in memory.
template <class K>
__device__ void run_sample(const KernelCall& call, const UsedExtents<K>& used) {
    static_assert(K::kernel.operands[0].shape[5] == 1 ||
                      (K::kernel.operands[0].strides[5] == 1 && K::kernel.operands[1].strides[5] == 1 &&
                       K::kernel.operands[2].strides[5] == 1 && K::kernel.operands[3].strides[5] == 1),
                  "totograph: sampling needs the parameters of the components to be contiguous in memory.");
    const auto* df = call.operands[0].get<float>(positions_of<K>(call));
    const auto* loc = call.operands[1].get<float>(positions_of<K>(call));
    const auto* scale = call.operands[2].get<float>(positions_of<K>(call));
    const auto* probabilities = call.operands[3].get<float>(positions_of<K>(call));
    for_each_draw<K>(call, used, [&](const auto& place, const SampleKey& key) {
        return sample_student_t_mixture(components_of<K>, df + offset_of<K, StridesOfOperand<K, 0>>(place),
                                        loc + offset_of<K, StridesOfOperand<K, 1>>(place),
                                        scale + offset_of<K, StridesOfOperand<K, 2>>(place),
                                        probabilities + offset_of<K, StridesOfOperand<K, 3>>(place), key);
    });
}

}  // namespace totograph::cuda
