// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

#include "models/toto1/case_list.hpp"
#include "models/toto1/series.hpp"

// What the two halves of the test of replays share: nvcc compiles the half on the device, the host's compiler the half
// on the CPU.

namespace replay {

using namespace made_up;

/// A small model, with the weights of the fixture `mixture`.
using Model = fixture::models::Small;

inline constexpr tg::Bucket sampled{.batch = 2, .variates = 3, .context = 64, .horizon = 24, .samples = 12};
/// Of `sampled`, less of everything.
inline constexpr tg::Bucket part{.batch = 1, .variates = 2, .context = 29, .horizon = 16, .samples = 5};
/// Two patches alone, for one draw that differs moves all that are drawn after it.
inline constexpr tg::Bucket many_samples{.variates = 2, .context = 48, .horizon = 16, .samples = 64};
inline constexpr std::uint64_t seed = 0x9E3779B97F4A7C15ULL;

/// A request that fills a bucket, with gaps and, of more than one variate, groups that change.
inline Request request_for(const tg::Bucket& bucket) {
    Request request = waves(bucket.batch, bucket.variates, bucket.context);
    make_gaps(request);
    make_groups(request, 2);
    change_groups(request, 2 * Model::config.patch_size);
    request.first_series = 5;
    return request;
}

/// The samples of the CPU's fused executor for `many_samples`.
std::vector<float> samples_on_cpu();

}  // namespace replay
