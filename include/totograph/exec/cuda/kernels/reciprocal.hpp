// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace totograph::cuda {

/// An approximate 1 / b, for a number of a usual size.
__device__ __forceinline__ float reciprocal_seed(float b) {
    float seed;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(seed) : "f"(b));
    return seed;
}
__device__ __forceinline__ double reciprocal_seed(double b) {
    double seed;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(b));
    return seed;
}

/// 1 / b, within a unit of the last place, without the branches of a quotient, for a number of a usual size.
__device__ __forceinline__ float reciprocal_of(float b) {
    const float seed = reciprocal_seed(b);
    return fmaf(seed, fmaf(-b, seed, 1.0F), seed);
}

/// 1 / sqrt(x), within a unit of the last place, without the branches of a root and of a quotient.
__device__ __forceinline__ float reciprocal_root(float x) {
    const float seed = rsqrtf(x);
    const float error = fmaf(-x * seed, seed, 1.0F);
    return x > 0 && x < std::numeric_limits<float>::infinity() ? fmaf(0.5F * seed, error, seed) : seed;
}

/// By what the weighted sums of an attention are multiplied: 1 / the sum of the weights, which is 0 where no key is in
/// use, and at least 1 elsewhere, for the largest weight is 1.
__device__ __forceinline__ float share_of_weight(float total) {
    return total == 0 ? 0.0F : reciprocal_of(total);
}

}  // namespace totograph::cuda
