// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/serve/explain/explanation.hpp>

// What the CPU runs for a bucket, from tables alone.
namespace totograph::serve::detail {

/// A fused forecaster's constants, without its type.
struct FusedFacts {
    ForecastPlan plan;
    std::vector<ProgramTables> programs{};  ///< In the order of the plan.
    DType storage = DType::f32;             ///< Of packed weights.
    std::size_t weight_bytes = 0;
    std::size_t state_bytes = 0;
    std::size_t cache_bytes = 0;
    std::size_t arena_bytes = 0;
    std::size_t scratch_bytes = 0;  ///< Of each thread.
};

/// The programs of a forecast without what they are: names, and how often a forecast of the whole horizon runs each.
std::vector<ProgramSummary> name_programs(const ForecastPlan& plan);

Explanation explain_fused(const FusedFacts& facts, int threads);

Explanation explain_eager(const RecordedForecast& recorded);

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/explain/impl/cpu_explanation.hpp>
#endif
