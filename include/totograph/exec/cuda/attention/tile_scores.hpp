// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/attention/select.hpp>

// Which query and key of a tile each score of a lane belongs to: tensor cores say.
namespace totograph::cuda::tile_detail {

/// Scores that a lane has of so many keys: of two queries, numbers 4 n and 4 n + 1 of the first and the next two of
/// the other.
constexpr int scores_of_lane(int keys) {
    return keys / 8 * 4;
}
static_assert(scores_of_lane(AttentionLimits::tile_keys) == 32);

/// Which of the two queries a score belongs to.
constexpr __host__ __device__ int query_of_score(int score) {
    return score % 4 / 2;
}
/// Its key, counted from the first one that was multiplied.
__device__ __forceinline__ int key_of_score(int score) {
    return score / 4 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + score % 2;
}

}  // namespace totograph::cuda::tile_detail
