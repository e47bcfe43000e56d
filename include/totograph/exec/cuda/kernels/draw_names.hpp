// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/random.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>

namespace totograph::cuda {

/// What names the draws of a kernel: operand `seed` has the halves of a seed, the one after it the first series and
/// sample.
template <class K, int seed>
class DrawNames {
public:
    __device__ __forceinline__ explicit DrawNames(const KernelCall& call) {
        const auto* halves = call.operands[seed].get<std::int32_t>(positions_of<K>(call));
        const auto* first = call.operands[seed + 1].get<std::int32_t>(positions_of<K>(call));
        seed_ = static_cast<std::uint32_t>(halves[0]) |
                static_cast<std::uint64_t>(static_cast<std::uint32_t>(halves[1])) << 32U;
        first_series_ = static_cast<std::uint32_t>(first[0]);
        first_sample_ = static_cast<std::uint32_t>(first[1]);
    }

    /// The key of the CPU for a place `[batch, sample, variate, ...]`.
    template <class DrawPlace>
    [[nodiscard]] __device__ __forceinline__ SampleKey key(const DrawPlace& place, std::uint32_t time) const {
        SampleKey key;
        key.seed = seed_;
        key.series = static_cast<std::uint32_t>(place.at[0]) + first_series_;
        key.sample = static_cast<std::uint32_t>(place.at[1]) + first_sample_;
        key.variate = static_cast<std::uint32_t>(place.at[2]);
        key.time = time;
        return key;
    }

private:
    std::uint64_t seed_;
    std::uint32_t first_series_;
    std::uint32_t first_sample_;
};

}  // namespace totograph::cuda
