// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/inference.hpp>

#include "models/toto2/cases.hpp"

// What padding is tested with, on the CPU and on devices.

namespace toto2_padding {

/// The defaults, in blocks of two patches.
struct Model {
    using Checkpoint = toto2_cases::leading_gaps_blocks;
    static constexpr totograph::toto2::Toto2Config config = Checkpoint::config;
    static constexpr totograph::toto2::Inference inference{.decode_block_size = 16};
};

inline constexpr totograph::Bucket largest{.batch = 3, .variates = 4, .context = 64, .horizon = 40};

}  // namespace toto2_padding
