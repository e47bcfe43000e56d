// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>

// What values add up to, and the shared memory of those who add them up.

namespace totograph::cuda {

/// Count, sum, and sum of squared deviations from the mean.
struct Moments {
    static constexpr int kinds = 3;

    double count;
    double total;
    double spread;
};

/// The mean of values, of which there is one or more. As a division rounds it, so that of equal values it is that
/// value; but without the branch that a division has for 0.
__device__ __forceinline__ double mean_of(double count, double total) {
    const double reciprocal = __drcp_rn(count);
    const double mean = total * reciprocal;
    return fma(fma(-count, mean, total), reciprocal, mean);
}

/// What the spread of values grows by beside that of those before them, by Chan, Golub and LeVeque
/// (https://doi.org/10.1007/978-3-642-51461-6_3), without a division for each mean.
__device__ __forceinline__ double spread_between(const Moments& before, const Moments& own) {
    const double apart = own.total * before.count - before.total * own.count;  // of means, by both counts
    const double counts = own.count * before.count * (own.count + before.count);
    return apart * apart * __drcp_rn(counts > 0 ? counts : 1.0);
}

/// Of values of one group of steps.
struct GroupMoments {
    int count;
    double total;
    double spread;
};

/// What running moments have in shared memory.
struct SharedMoments {
    static constexpr int groups = 128;  ///< Of a round, at most.
    static constexpr int spans = groups / warp_size;

    double totals[groups];
    double spreads[groups];
    int counts[groups];
    Moments of_spans[spans];
    Moments enough[wide_block_threads / warp_size];  ///< Of a row, which a warp has, or in 0 the block.
};

/// One for all running moments of a kernel.
__device__ __forceinline__ SharedMoments& shared_moments() {
    __shared__ SharedMoments memory;
    return memory;
}

}  // namespace totograph::cuda
