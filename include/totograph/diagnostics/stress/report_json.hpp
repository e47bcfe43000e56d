// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <totograph/diagnostics/stress/compare_variants.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/jumps.hpp>
#include <totograph/diagnostics/stress/measure_builds.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/serve/build_identity.hpp>

namespace totograph::serve {

namespace detail {

nlohmann::ordered_json json_of(const Deviation& deviation);

nlohmann::ordered_json json_of(const Jumps& jumps);

}  // namespace detail

/// A stress report as a JSON object, UTF-8, its keys always in this order: `passed`, `checks`, `backend`, `mode`,
/// `baseline`, `planned` (null without one), `build`, `level`, `iterations`, `seed`, `thresholds`, `forecasts`,
/// `failures`, `first_failure`, `recaptures`, `memory`, `caches`, `warm_up`, `cases`, `variates`, `notes`. Deviations
/// are in units of a series' scale.
std::string json_text(const StressReport& report);

/// Variants as a JSON object: `build`, and `variants`, a list of objects.
std::string json_text(std::span<const VariantResult> results, const BuildIdentity& build);

/// Builds as a JSON object: `build`, and `builds`, a list of objects.
std::string json_text(std::span<const BuildLatency> rows, const BuildIdentity& build);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/stress/impl/report_json.hpp>
#endif
