// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/diagnostics/grid/grid_row.hpp>
#include <totograph/diagnostics/stress/report.hpp>

namespace totograph::serve {

/// A grid as Markdown: the answers, then tables of latency and throughput, of memory, and of graphs and builds, each
/// with a row for each size; below them, how it is known that there are no graph breaks. All rows have the same runs,
/// of which the last but those of `-regional` backends is the one under test.
std::string grid_markdown(std::span<const GridRow> rows, const GridWords& words, std::span<const StressCheck> checks);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/grid/impl/grid_markdown.hpp>
#endif
