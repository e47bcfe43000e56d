// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/grid/grid_markdown.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/diagnostics/grid/grid_row.hpp>
#include <totograph/diagnostics/stress/latencies.hpp>
#include <totograph/diagnostics/stress/markdown.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

namespace detail {

inline bool is_regional(const GridRun& run) {
    return std::string_view(run.backend).ends_with("-regional");
}

/// The run under test: the last that is not another way to capture it.
inline const GridRun& tested_run(const GridRow& row) {
    const auto last = std::find_if_not(row.runs.rbegin(), row.runs.rend(), is_regional);
    return last == row.runs.rend() ? row.runs.back() : *last;
}

/// The name of a run in titles: its mode, with the backend where there are several.
inline std::string run_title(const GridRow& row, const GridRun& run) {
    const bool has_several = std::any_of(row.runs.begin(), row.runs.end(),
                                         [&](const GridRun& other) { return other.backend != run.backend; });
    return (has_several ? run.backend + " " : "") + std::string(name(run.mode));
}

/// Steps of all series of a call, in a second.
inline std::string throughput_text(const GridRow& row, const GridRun& run) {
    const double seconds = run.call.median();
    const Index samples = std::max(Index{1}, row.sizes.samples);
    const auto steps = static_cast<double>(row.sizes.batch * samples * row.sizes.horizon);
    constexpr double whole = 1000;  // from here on a fraction tells nothing
    return seconds <= 0               ? "-"
           : steps / seconds >= whole ? std::to_string(std::llround(steps / seconds))
                                      : totograph::detail::number_text(steps / seconds, 3);
}

/// How many times faster a run is than another one.
inline std::string times_text(const Latencies& slow, const Latencies& fast) {
    return fast.median() > 0 ? totograph::detail::number_text(slow.median() / fast.median(), 3) + "x" : "-";
}

/// `same`, or what differs of which run; with how many values there are to tell apart.
inline std::string agreement_text(const GridRow& row, const GridWords& words) {
    std::string text;
    for (std::size_t i = 1; i < row.runs.size(); ++i) {
        const GridAgreement& one = row.runs[i].agreement;
        if (!one.is_equal()) {
            text += (text.empty() ? "" : "; ") + run_title(row, row.runs[i]) + " " + std::to_string(one.equal) +
                    " of " + std::to_string(one.values) + ", others from " + words.step + " " +
                    std::to_string(one.other_step.value_or(0) + 1) + " on";
        }
    }
    return (text.empty() ? "same" : text) + " (" + std::to_string(row.runs.front().agreement.distinct) + " distinct)";
}

/// A table with a row for each size, whose first columns are those. `cells` gives the others.
template <class Cells>
std::string grid_table(std::span<const GridRow> rows, const GridWords& words, std::vector<std::string> titles,
                       const Cells& cells) {
    titles.insert(titles.begin(), {words.context, words.batch});
    MarkdownTable table(std::move(titles));
    for (const GridRow& row : rows) {
        std::vector<std::string> line{std::to_string(row.sizes.context), std::to_string(row.sizes.batch)};
        for (std::string& cell : cells(row)) {
            line.push_back(std::move(cell));
        }
        table.add_row(std::move(line));
    }
    return table.text();
}

inline std::string grid_latency_table(std::span<const GridRow> rows, const GridWords& words) {
    const GridRow& first = rows.front();
    std::vector<std::string> titles;
    for (const GridRun& run : first.runs) {
        titles.push_back(run_title(first, run));
    }
    titles.emplace_back("speed");
    titles.push_back("a call of one " + words.step);
    for (const GridRun& run : first.runs) {
        titles.push_back(run_title(first, run) + " " + words.steps + "/s");
    }
    titles.push_back(words.values);
    return grid_table(rows, words, std::move(titles), [&](const GridRow& row) {
        const GridRun& tested = tested_run(row);
        std::vector<std::string> cells;
        for (const GridRun& run : row.runs) {
            cells.push_back(seconds_text(run.call.median()));
        }
        cells.push_back(times_text(row.runs.front().call, tested.call));
        cells.push_back(seconds_text(tested.one_step.median()));
        for (const GridRun& run : row.runs) {
            cells.push_back(throughput_text(row, run));
        }
        cells.push_back(agreement_text(row, words));
        return cells;
    });
}

inline std::string grid_memory_table(std::span<const GridRow> rows, const GridWords& words) {
    const GridRow& first = rows.front();
    std::vector<std::string> titles{"weights", "states", "of these KV cache", "arena", "workspace"};
    for (const GridRun& run : first.runs) {
        titles.push_back(run_title(first, run) + " holds");
    }
    return grid_table(rows, words, std::move(titles), [](const GridRow& row) {
        using totograph::detail::bytes_text;
        const Explanation& plan = tested_run(row).plan;
        std::vector<std::string> cells{bytes_text(plan.shared_weight_bytes), bytes_text(plan.state_bytes),
                                       bytes_text(plan.cache_bytes), bytes_text(plan.arena_bytes),
                                       bytes_text(plan.workspace_bytes)};
        for (const GridRun& run : row.runs) {
            cells.push_back(bytes_text(run.held_bytes));
        }
        return cells;
    });
}

/// The run that captures what the tested one captures, layer by layer; null where there is none.
inline const GridRun* regional_run(const GridRow& row) {
    const GridRun& tested = tested_run(row);
    const auto found = std::find_if(row.runs.begin(), row.runs.end(), [&](const GridRun& run) {
        return run.backend == tested.backend + "-regional" && run.mode == tested.mode && run.captures > 0;
    });
    return found == row.runs.end() || tested.captures == 0 ? nullptr : &*found;
}

/// The sum of what each run of a row has, but for those of mode `eager`.
template <class Count>
Index total_of(const GridRow& row, const Count& count) {
    Index total = 0;
    for (const GridRun& run : row.runs) {
        total += run.mode == Mode::eager ? 0 : count(run);
    }
    return total;
}

inline std::string grid_graph_table(std::span<const GridRow> rows, const GridWords& words) {
    const GridRow& first = rows.front();
    const bool has_regional = regional_run(first) != nullptr;
    const bool counts = tested_run(first).allocations.has_value();
    std::vector<std::string> titles{"graph breaks", "captures", "graphs a call", "captured later"};
    const bool waits = tested_run(first).waits.has_value();
    if (waits) {
        titles.emplace_back("host waits a call");
    }
    if (counts) {
        titles.push_back("allocations a further " + words.step + ", " + run_title(first, tested_run(first)));
    }
    for (const GridRun& run : first.runs) {
        titles.push_back("first build of " + run_title(first, run));
        titles.emplace_back("build again");
    }
    if (has_regional) {
        titles.insert(titles.end(), {"regional captures", "regional graphs a call", "regional build / whole"});
    }
    return grid_table(rows, words, std::move(titles), [&](const GridRow& row) {
        const GridRun& tested = tested_run(row);
        const auto breaks = [](const GridRun& run) { return run.replays_graphs() ? run.graph_breaks() : 0; };
        const auto later = [](const GridRun& run) { return run.replays_graphs() ? run.captured_later : 0; };
        const bool replays =
            std::any_of(row.runs.begin(), row.runs.end(), [](const GridRun& run) { return run.replays_graphs(); });
        const auto of_graphs = [](bool has_some, Index count) { return has_some ? std::to_string(count) : "-"; };
        std::vector<std::string> cells{
            of_graphs(replays, total_of(row, breaks)), of_graphs(tested.replays_graphs(), tested.captures),
            of_graphs(tested.replays_graphs(), tested.replays), of_graphs(replays, total_of(row, later))};
        if (waits) {
            cells.push_back(std::to_string(tested.waits.value_or(0)));
        }
        if (counts) {
            const auto steps = static_cast<double>(std::max(Index{1}, row.sizes.horizon - 1));
            cells.push_back(
                totograph::detail::number_text(static_cast<double>(tested.allocations.value_or(0)) / steps, 3));
        }
        for (const GridRun& run : row.runs) {
            cells.push_back(seconds_text(run.first_build_seconds));
            cells.push_back(seconds_text(run.build.median()));
        }
        if (const GridRun* const regional = regional_run(row); has_regional && regional != nullptr) {
            cells.push_back(std::to_string(regional->captures));
            cells.push_back(std::to_string(regional->replays));
            cells.push_back(times_text(regional->build, tested.build));
        }
        return cells;
    });
}

/// The tested run of the row whose calls are furthest from the plan; of equal ones, the first.
inline const GridRun& furthest_from_plan(std::span<const GridRow> rows) {
    const auto furthest = std::max_element(rows.begin(), rows.end(), [](const GridRow& a, const GridRow& b) {
        return tested_run(a).graph_breaks() < tested_run(b).graph_breaks();
    });
    return tested_run(*furthest);
}

/// The most that a tested run of any row has of something; nothing where none has it.
template <class Count>
std::optional<Index> most_of_tested(std::span<const GridRow> rows, const Count& count) {
    std::optional<Index> most;
    for (const GridRow& row : rows) {
        if (const std::optional<Index> found = count(tested_run(row))) {
            most = std::max(most.value_or(*found), *found);
        }
    }
    return most;
}

/// How it is known whether something breaks a graph. Graphs are those of the size whose calls are furthest from the
/// plan, other counts those of the size that has most.
inline std::string break_text(std::span<const GridRow> rows, const GridWords& words) {
    using totograph::detail::count_text;
    const auto times = [](Index count) { return count_text(static_cast<std::size_t>(count), "time", "times"); };
    const auto graphs = [](Index count) { return count_text(static_cast<std::size_t>(count), "graph", "graphs"); };
    const GridRun& tested = tested_run(rows.front());
    std::string runs;
    for (const ProgramSummary& program : tested.plan.programs) {
        runs += (runs.empty() ? "" : ", ") + program.name + " " + times(program.runs);
    }
    std::string text =
        "- By construction: a call runs programs that the compiler planned, lists of steps without a branch, as often "
        "as its size says (" +
        runs + "). The host reads no " + words.step + " before all are there.\n";
    const GridRun& furthest = furthest_from_plan(rows);
    text += tested.captures > 0 ? "- As the executor reports: a call replays " + graphs(furthest.replays) +
                                      " for all " + std::to_string(rows.front().sizes.horizon) + " " + words.steps +
                                      "; " + std::to_string(furthest.plan.graph_launches) +
                                      " planned. More or fewer than those is a graph break.\n"
                                : std::string("- Nothing is captured here.\n");
    if (furthest.counted_replays) {
        text += "- Counted: a call launches " + graphs(*furthest.counted_replays) + ".\n";
    }
    if (const auto waits = most_of_tested(rows, [](const GridRun& run) { return run.waits; })) {
        text += "- Counted: in a call the host waits for the device " + times(*waits) +
                ". One wait is for the result; a value that is looked at in between takes another.\n";
    }
    if (const auto allocations = most_of_tested(rows, [](const GridRun& run) { return run.allocations; })) {
        text += "- Counted: what a call of all " + words.steps + " asks the allocator for, beyond a call of one " +
                words.step + ", is " + std::to_string(*allocations) + " allocation" + (*allocations == 1 ? "" : "s") +
                ": to trace, compile or build something in between would take some.\n";
    }
    return text;
}

}  // namespace detail

TOTOGRAPH_INLINE std::string grid_markdown(std::span<const GridRow> rows, const GridWords& words,
                                           std::span<const StressCheck> checks) {
    MarkdownTable answers({"check", "result", "found", "limit"}, MarkdownTable::Holds::words);
    for (const StressCheck& check : checks) {
        answers.add_row({check.name, check.passed ? "passed" : "FAILED", check.found, check.limit});
    }
    std::string text = answers.text();
    if (rows.empty()) {
        return text;
    }
    const GridRow& first = rows.front();
    text += "\n## Latency and throughput\n\nOf whole calls, " + std::to_string(first.sizes.horizon) + " " +
            words.steps + " each, the median of " + std::to_string(first.runs.front().call.count()) +
            " in turns. Speed is that of '" + detail::tested_run(first).backend + "' in mode " +
            std::string(name(detail::tested_run(first).mode)) + ", as many times the first column.\n\n" +
            detail::grid_latency_table(rows, words);
    text += "\n## Memory\n\nAs planned for the mode under test, and what each column holds beside shared weights.\n\n" +
            detail::grid_memory_table(rows, words);
    text +=
        "\n## Graphs and builds\n\nThe first build of a column prepares what is shared, weights and choices, where no "
        "column or size before did; `build again` is the median of builds after that.\n\n" +
        detail::grid_graph_table(rows, words) + "\n" + detail::break_text(rows, words);
    return text;
}

}  // namespace totograph::serve
