// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include <totograph/diagnostics/stress/compare_variants.hpp>
#include <totograph/forecast/bucket.hpp>

namespace examples {

/// The bucket of the demo model that is compiled again and again, each time without one of the compiler's steps.
inline constexpr totograph::Bucket ablation_bucket{.variates = 4, .context = 256, .horizon = 64, .samples = 32};

/// As it is, with as many of `threads` (0: all) as are measured to be fastest; without each step; with all of the
/// threads, and with one. Throws `Error` as `totograph::load` does.
std::vector<totograph::serve::Variant> ablation_variants(const std::filesystem::path& checkpoint, int threads);

/// The bucket of Toto Open Base 1.0 that is compiled again and again for a device.
inline constexpr totograph::Bucket device_ablation_bucket{.variates = 7, .context = 512, .horizon = 192, .samples = 64};

/// As it is, without each step, and without each of the ways in which launches are made fast. A checkpoint of another
/// model gives place to untrained weights. In builds with TOTOGRAPH_ABLATION_CUDA. Throws `Error` as
/// `totograph::load` does.
std::vector<totograph::serve::Variant> device_ablation_variants(const std::filesystem::path& checkpoint, int device);

}  // namespace examples
