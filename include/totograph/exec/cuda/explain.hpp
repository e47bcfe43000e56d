// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/lowering.hpp>
#include <totograph/graph/explain_steps.hpp>
#include <totograph/graph/explain_text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/program.hpp>

namespace totograph::cuda {

namespace explain_detail {

/// A launch in words.
struct LaunchWords {
    int layer = -1;
    std::string kind;
    std::string steps;
    std::string what;
    StepFacts facts;

    /// Whether two launches do the same for different layers.
    [[nodiscard]] bool is_like(const LaunchWords& other) const {
        return kind == other.kind && what == other.what && facts.flops == other.facts.flops;
    }
};

inline LaunchWords describe(const Launch& launch, const totograph::detail::ProgramWords& words,
                            const ProgramTables& tables, DType storage) {
    LaunchWords result;
    const int last = launch.first + launch.count - 1;
    result.layer = words.step(last).layer;
    result.steps =
        launch.count == 1 ? std::to_string(launch.first) : std::to_string(launch.first) + "-" + std::to_string(last);
    std::vector<std::string> lines;
    for (int step = launch.first; step <= last; ++step) {
        lines.push_back(words.step(step).line());
        const int kernel = tables.steps[static_cast<std::size_t>(step)].kernel;
        result.facts += facts_of(tables.kernels[static_cast<std::size_t>(kernel)], storage);
    }
    switch (launch.kind) {
        case LaunchKind::step: result.kind = "kernel"; break;
        case LaunchKind::segment: result.kind = "segment"; break;
        case LaunchKind::streamed: result.kind = "streamed"; break;
        case LaunchKind::library: result.kind = "cuBLASLt"; break;
    }
    if (launch.kind == LaunchKind::segment) {
        int barriers = 0;
        for (const bool waits : launch.barriers) {
            barriers += waits ? 1 : 0;
        }
        result.what = std::to_string(launch.count) + " small steps, " + std::to_string(barriers) +
                      " barriers: " + lines.front() + " ... " + lines.back();
        return result;
    }
    result.what = totograph::detail::join(lines, "; ");
    if (launch.kind == LaunchKind::library) {
        result.what += launch.direct.is_possible ? " (all of it inside)" : " (chains in a kernel of their own)";
    }
    bool rounds = false;
    for (int i = 0; i < launch.count; ++i) {
        rounds = rounds || launch.rounds[static_cast<std::size_t>(i)];
    }
    result.what += rounds ? " -> bf16" : "";
    return result;
}

}  // namespace explain_detail

/// What a captured program launches, as a table: a line a launch, with the steps of the plan that are in it (numbers as
/// in `explain`), what they compute, and the bytes and operations of them together. Equal layers in a row are told
/// once.
template <class Program, bool streams>
std::string explain_launches(std::string_view title) {
    using namespace totograph::detail;
    const ProgramTables tables = tables_of<Program>();
    const ProgramWords words(tables);
    using Lowered = Lowering<Program, streams>;
    std::vector<explain_detail::LaunchWords> launches;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        launches.push_back(explain_detail::describe(Lowered::at(i), words, tables, streams ? DType::bf16 : DType::f32));
    }
    // Launches of one layer in a row.
    struct Run {
        std::size_t first;
        std::size_t count;
        std::size_t repeats;
    };
    std::vector<Run> runs;
    for (std::size_t i = 0; i < launches.size();) {
        std::size_t end = i + 1;
        while (end < launches.size() && launches[end].layer == launches[i].layer) {
            ++end;
        }
        bool same = !runs.empty() && runs.back().count == end - i;
        for (std::size_t j = 0; same && j < end - i; ++j) {
            same = launches[runs.back().first + j].is_like(launches[i + j]);
        }
        if (same) {
            ++runs.back().repeats;
        } else {
            runs.push_back({i, end - i, 1});
        }
        i = end;
    }
    TextTable table(
        {{"launch", true}, {"kind"}, {"steps"}, {"read", true}, {"written", true}, {"work", true}, {"computes"}});
    for (const Run& run : runs) {
        if (run.repeats > 1) {
            table.add_heading(std::to_string(run.repeats) + " times the same " + std::to_string(run.count) +
                              " launches, here the first of them:");
        }
        for (std::size_t i = run.first; i < run.first + run.count; ++i) {
            const auto& launch = launches[i];
            table.add_row({std::to_string(i), launch.kind, launch.steps, bytes_text(launch.facts.bytes_read),
                           bytes_text(launch.facts.bytes_written), flops_text(launch.facts.flops), launch.what});
        }
    }
    return std::string(title) + ": " + std::to_string(launches.size()) + " launches for " +
           std::to_string(tables.steps.size()) + " steps\n\n" + table.text();
}

}  // namespace totograph::cuda
