// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/grid/grid_checks.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/diagnostics/grid/grid_row.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

namespace detail {

/// Where a run is, for a sentence about it.
inline std::string place_of(const GridRow& row, const GridRun& run) {
    return "'" + run.backend + "' in mode " + std::string(name(run.mode)) + ", " + to_string(row.sizes);
}

/// A question with a count that has to be 0: how much of it the runs have that `count` knows, and the worst of them.
template <class Count>
StressCheck count_to_be_zero(std::span<const GridRow> rows, const std::string& title, const std::string& what,
                             const Count& count) {
    Index runs = 0;
    Index most = 0;
    std::string where;
    for (const GridRow& row : rows) {
        for (const GridRun& run : row.runs) {
            const std::optional<Index> found = count(run);
            runs += found ? 1 : 0;
            if (found && *found > most) {
                most = *found;
                where = place_of(row, run);
            }
        }
    }
    return {title, most == 0,
            most == 0
                ? "0 " + what + " in " + totograph::detail::count_text(static_cast<std::size_t>(runs), "run", "runs")
                : std::to_string(most) + " " + what + " of " + where,
            runs == 0 ? "" : "0"};
}

/// Whether values that have to be those of the first run are.
inline StressCheck check_agreement(std::span<const GridRow> rows, const GridWords& words) {
    StressCheck check{.name = words.values, .passed = true, .found = {}, .limit = "those of the first column"};
    Index compared = 0;
    Index rounded = 0;
    for (const GridRow& row : rows) {
        for (std::size_t i = 1; i < row.runs.size(); ++i) {
            const GridAgreement& one = row.runs[i].agreement;
            (one.is_required ? compared : rounded) += one.values;
            if (one.is_required && !one.is_equal() && check.passed) {
                check.passed = false;
                check.found = std::to_string(one.values - one.equal) + " of " + std::to_string(one.values) +
                              " are others, from " + words.step + " " + std::to_string(one.other_step.value_or(0) + 1) +
                              " on: " + place_of(row, row.runs[i]);
            }
        }
    }
    if (check.passed) {
        check.found =
            std::to_string(compared) + " compared, all the same" +
            (rounded > 0 ? "; " + std::to_string(rounded) + " of runs that round otherwise, see the table" : "");
    }
    return check;
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<StressCheck> check_grid(std::span<const GridRow> rows, const GridWords& words) {
    using Count = std::optional<Index>;
    std::vector<StressCheck> checks;
    const bool compares = std::any_of(rows.begin(), rows.end(), [](const GridRow& row) {
        return row.runs.size() > 1 && std::any_of(row.runs.begin() + 1, row.runs.end(), [](const GridRun& run) {
                   return run.agreement.is_required && run.agreement.values > 0;
               });
    });
    if (compares) {
        checks.push_back(detail::check_agreement(rows, words));
    }
    const auto ask = [&](const std::string& title, const std::string& what, const auto& count) {
        checks.push_back(detail::count_to_be_zero(rows, title, what, count));
    };
    ask("valid", "values that the model cannot give",
        [](const GridRun& run) -> Count { return run.agreement.not_valid; });
    const auto repeats = [](const GridRun& run) -> Count {
        return run.call.count() < 2 ? Count() : Count(run.agreement.repeats ? 0 : 1);
    };
    const auto is_counted = [&](const auto& count) {
        return std::any_of(rows.begin(), rows.end(), [&](const GridRow& row) {
            return std::any_of(row.runs.begin(), row.runs.end(),
                               [&](const GridRun& run) { return count(run).has_value(); });
        });
    };
    if (is_counted(repeats)) {
        ask("repeats", "calls with other bits than the one before", repeats);
    }
    const auto later = [](const GridRun& run) -> Count {
        return run.replays_graphs() ? Count(run.captured_later) : Count();
    };
    if (is_counted(later)) {
        ask("captures", "graphs captured by calls", later);
        ask("graph breaks", "graphs more or fewer than planned in a call",
            [](const GridRun& run) -> Count { return run.replays_graphs() ? Count(run.graph_breaks()) : Count(); });
    }
    const auto early_waits = [](const GridRun& run) -> Count {
        return run.mode == Mode::eager || !run.waits ? Count() : std::max(Index{0}, *run.waits - 1);
    };
    if (is_counted(early_waits)) {
        ask("host waits", "waits of the host before a call's last one", early_waits);
    }
    const auto further = [](const GridRun& run) -> Count {
        return run.mode == Mode::eager ? Count() : run.allocations;
    };
    if (is_counted(further)) {
        ask("allocations", "allocations for further " + words.steps, further);
    }
    return checks;
}

TOTOGRAPH_INLINE bool all_passed(std::span<const StressCheck> checks) {
    return !checks.empty() &&
           std::all_of(checks.begin(), checks.end(), [](const StressCheck& check) { return check.passed; });
}

}  // namespace totograph::serve
