// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include <totograph/diagnostics/stress/compare_variants.hpp>
#include <totograph/forecast/bucket.hpp>

namespace examples {

/// The bucket of the demo model that is compiled again and again, each time without one of the compiler's steps.
inline constexpr totograph::Bucket ablation_bucket{.variates = 4, .context = 256, .horizon = 64, .samples = 32};

/// A second one, whose time is that of many rows of a long context: what touches each row shows here.
inline constexpr totograph::Bucket wide_ablation_bucket{.variates = 64, .context = 1024, .horizon = 16};

/// A third one, of a long context and many steps ahead: what reads the series again at each step shows here.
inline constexpr totograph::Bucket long_ablation_bucket{.variates = 4, .context = 1024, .horizon = 336, .samples = 32};

/// Variants that make requests of one size.
struct Ablation {
    totograph::Bucket bucket;
    std::vector<totograph::serve::Variant> variants;
};

/// For each of these buckets as it is, with as many of `threads` (0: all) as are measured to be fastest, and without
/// each step that has work there; with all of the threads, and with one. Throws `Error` as `totograph::load` does.
std::vector<Ablation> ablations(const std::filesystem::path& checkpoint, int threads);

/// The bucket of Toto Open Base 1.0 that is compiled again and again for a device: 448 rows of context and 1,792 of
/// futures, so that both kinds of products for many rows have work.
inline constexpr totograph::Bucket device_ablation_bucket{
    .variates = 7, .context = 512, .horizon = 192, .samples = 256};

/// As it is, without each step, and without each of the ways in which launches are made fast. A checkpoint of another
/// model gives place to untrained weights. In builds with TOTOGRAPH_ABLATION_CUDA. Throws `Error` as
/// `totograph::load` does.
std::vector<Ablation> device_ablations(const std::filesystem::path& checkpoint, int device);

}  // namespace examples
