// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/diagnostics/grid/grid_row.hpp>
#include <totograph/diagnostics/stress/report.hpp>

namespace totograph::serve {

/// What is asked of a grid: that results are those of the first run where they have to be, are such as the model can
/// give, and repeat; that calls capture nothing, never return to the host in between, and allocate nothing for a
/// further step (mode `eager` may). What was not counted is not asked,
/// and of graphs only the runs that replay some.
std::vector<StressCheck> check_grid(std::span<const GridRow> rows, const GridWords& words);

/// Whether there are answers and all are yes.
bool all_passed(std::span<const StressCheck> checks);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/grid/impl/grid_checks.hpp>
#endif
