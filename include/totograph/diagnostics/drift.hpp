// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <totograph/diagnostics/drift_file.hpp>
#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/jumps.hpp>
#include <totograph/diagnostics/stress/report_json.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service.hpp>

namespace totograph::serve {

/// Forecasts each of these requests; names tell the cases apart. Throws `Error` for what the service throws.
DriftSet record_forecasts(ForecastService& service, const BuildIdentity& build,
                          std::vector<std::pair<std::string, StressRequest>> requests);

/// How far forecasts are from those that were recorded.
struct DriftReport {
    struct Row {
        std::string name;
        Bucket sizes{};
        Deviation deviation{};
        Jumps jumps{};
        std::string failure{};  ///< Why there is no forecast; empty when there is one.
        bool passed = false;
    };

    std::string recorded;  ///< Build, backend and mode of the record,
    std::string found;     ///< and of the forecasts that were compared with it.
    std::vector<Row> rows;

    /// Why the jumps of all cases together are no chance; empty when they may be.
    std::string jumps_fault{};

    [[nodiscard]] bool passed() const {
        return !rows.empty() && jumps_fault.empty() &&
               std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.passed; });
    }
};

/// Forecasts the recorded requests again and compares. A case passes when its deviation is within the thresholds and
/// its jumps may be chance, which those of all cases together must be, too. What a forecast throws fails its case.
DriftReport compare_with(ForecastService& service, const BuildIdentity& build, const DriftSet& set,
                         const StressThresholds& thresholds = {});

/// The report as Markdown that reads well in a terminal, too.
std::string markdown_text(const DriftReport& report);

/// The report as a JSON object: `passed`, `recorded`, `found`, `jumps_fault`, and `cases`, a list of objects.
std::string json_text(const DriftReport& report);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/impl/drift.hpp>
#endif
