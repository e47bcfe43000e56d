// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <totograph/diagnostics/grid/grid_row.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/serve/build_identity.hpp>

namespace totograph::serve {

/// What a grid was measured with.
struct GridSetting {
    std::string model;
    std::string checkpoint;  ///< Empty: untrained weights.
    int threads = 0;         ///< 0: as many as the process may use.
    BuildIdentity build{};
};

/// A grid as a JSON object: `passed`, `checks`, what it was measured with, and `rows`, each with its `sizes` and a list
/// of `runs`.
std::string grid_json(std::span<const GridRow> rows, std::span<const StressCheck> checks, const GridSetting& setting);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/grid/impl/grid_json.hpp>
#endif
