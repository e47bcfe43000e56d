// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that puts a service under load and says whether it holds: for tests and for programs, not for serving.
#include <totograph/diagnostics/grid/grid_checks.hpp>
#include <totograph/diagnostics/grid/grid_json.hpp>
#include <totograph/diagnostics/grid/grid_markdown.hpp>
#include <totograph/diagnostics/grid/measure_grid.hpp>
#include <totograph/diagnostics/stress/batch_costs.hpp>
#include <totograph/diagnostics/stress/compare_variants.hpp>
#include <totograph/diagnostics/stress/measure_builds.hpp>
#include <totograph/diagnostics/stress/report_json.hpp>
#include <totograph/diagnostics/stress/report_markdown.hpp>
#include <totograph/diagnostics/stress/run.hpp>
#include <totograph/diagnostics/stress/sweep.hpp>
