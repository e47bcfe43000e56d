// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/categorical.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>

// The logits of a draw, and their weights.

namespace totograph::cuda {

/// `e^x` for x of 0 and below, in double, without a branch: of several, all are computed at once. Below -30, where no
/// weight is left, that of -30; so of NaN.
__device__ __forceinline__ double exp_of_weight(double x) {
    constexpr double log2_of_e = 0x1.71547652b82fep0;
    constexpr double ln2_high = 0x1.62e42fefa3000p-1;  // times a number of 6 bits exact
    constexpr double ln2_low = 0x1.3de6af278ece6p-42;
    constexpr double to_integer = 0x1.8p52;
    constexpr int terms = 13;  // of the series; the next one is below 2^-57 of the result
    x = fmax(x, -30.0);
    const double shifted = fma(x, log2_of_e, to_integer);
    const double power = shifted - to_integer;
    const double rest = fma(power, -ln2_low, fma(power, -ln2_high, x));
    double factorial = 6227020800.0;  // of 13
    double sum = 1.0 / factorial;
#pragma unroll
    for (int term = terms; term > 0; --term) {
        factorial /= term;
        sum = fma(sum, rest, 1.0 / factorial);
    }
    return __hiloint2double(__double2hiint(sum) + (__double2loint(shifted) << 20U), __double2loint(sum));
}

/// The weight of `core/categorical.hpp`.
__device__ __forceinline__ std::uint64_t categorical_weight(float logit, float largest, float temperature) {
    const double distance = static_cast<double>(logit) - static_cast<double>(largest);
    const double weight = exp_of_weight(distance / static_cast<double>(temperature)) * 0x1p36;
    return static_cast<std::uint64_t>(logit == largest ? 0x1p36 : weight);
}

/// The number that has a key.
__device__ __forceinline__ float logit_of_key(std::uint32_t key) {
    return __uint_as_float((key >> 31U) != 0 ? key & 0x7fffffffU : ~key);
}

/// What a thread has of the logits of a block. Neighbours that are few lie in registers, with their weights; others are
/// read again and again.
/// @tparam count  ids of a row
template <class Logits, int count>
class OwnLogits {
    static constexpr int each = (count + block_threads - 1) / block_threads;
    static constexpr bool are_held = each <= 8;

public:
    __device__ __forceinline__ explicit OwnLogits(const Logits& logits) : logits_(logits) {
        if constexpr (are_held) {
#pragma unroll
            for (int i = 0; i < each; ++i) {
                held_[i] = id_of(i) < count ? logits_(id_of(i)) : 0.0F;
            }
        }
    }

    /// Computes the weights at a temperature of 1, given the largest logit.
    __device__ __forceinline__ void weigh(float largest) {
        if constexpr (are_held) {
#pragma unroll
            for (int i = 0; i < each; ++i) {
                weights_[i] = categorical_weight(held_[i], largest, 1.0F);
            }
        }
    }
    /// One of them: of the `i`th logit that was visited.
    [[nodiscard]] __device__ __forceinline__ std::uint64_t weight(float logit, int i, float largest) const {
        if constexpr (are_held) {
            return weights_[i];
        } else {
            return categorical_weight(logit, largest, 1.0F);
        }
    }

    /// Calls `visit(logit, key, i)` for each, in any order.
    template <class Visit>
    __device__ __forceinline__ void for_each(const Visit& visit) const {
        if constexpr (are_held) {
            for_each_neighbour([&](int, float logit, std::uint32_t key, int i) { visit(logit, key, i); });
        } else {
#pragma unroll 4
            for (int id = static_cast<int>(threadIdx.x); id < count; id += block_threads) {
                const float logit = logits_(id);
                visit(logit, categorical::key_of(logit), 0);
            }
        }
    }

    /// Calls `visit(id, logit, key, i)` for each, of neighbouring ids in their order.
    template <class Visit>
    __device__ __forceinline__ void for_each_neighbour(const Visit& visit) const {
        if constexpr (are_held) {
#pragma unroll
            for (int i = 0; i < each; ++i) {
                if (id_of(i) < count) {
                    visit(id_of(i), held_[i], categorical::key_of(held_[i]), i);
                }
            }
        } else {
            const int end = min(id_of(each), count);
            for (int id = id_of(0); id < end; ++id) {
                const float logit = logits_(id);
                visit(id, logit, categorical::key_of(logit), 0);
            }
        }
    }

private:
    static __device__ __forceinline__ int id_of(int i) {
        return static_cast<int>(threadIdx.x) * each + i;
    }

    const Logits& logits_;
    float held_[are_held ? each : 1];
    std::uint64_t weights_[are_held ? each : 1];
};

}  // namespace totograph::cuda
