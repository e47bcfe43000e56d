// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include <totograph/core/bucket.hpp>
#include <totograph/serve/stress/compare_variants.hpp>

namespace examples {

/// The bucket of the demo model that is compiled again and again, each time without one of the compiler's steps.
inline constexpr totograph::Bucket ablation_bucket{.variates = 4, .context = 256, .horizon = 64, .samples = 32};

/// As it is; without each step; with one thread, and with all of `threads` (0: all cores). Throws `Error` as
/// `totograph::toto::load` does.
std::vector<totograph::serve::Variant> ablation_variants(const std::filesystem::path& checkpoint, int threads);

}  // namespace examples
