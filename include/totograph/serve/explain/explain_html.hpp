// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>

namespace totograph::serve {

/// A program of a page.
struct PageProgram {
    std::string title;                   ///< What it does, in a few words.
    ProgramTables tables;                ///< With its loops written out (`tables_of`).
    std::vector<double> step_seconds{};  ///< Of each step in one run; empty: not measured.
};

/// What a page about a forecaster tells.
struct ExplanationPage {
    Explanation explanation;
    std::vector<PageProgram> programs{};     ///< In the order of `explanation.programs`.
    DType storage = DType::f32;              ///< Of packed weights.
    std::optional<DeviceSpeed> speed{};      ///< For the floors; without, there are none.
    double forecast_seconds = 0;             ///< Of a whole forecast; 0: not measured.
    std::optional<ForecastCounts> counts{};  ///< What a service counted of it: builds, captures, recaptures.
};

/// A page about a forecaster that needs nothing but a browser: what it takes, and of each program the steps (a fused
/// group each) with arrows from what makes a value to what reads it, their work, bytes, least time and measured time;
/// equal layers are told once, with how often they run. Light or dark as the reader's system is.
std::string explain_html(const ExplanationPage& page);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/explain/impl/explain_html.hpp>
#endif
