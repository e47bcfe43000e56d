// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/explain/explain_text.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>

namespace totograph::serve {
namespace detail {

TOTOGRAPH_INLINE ExplanationFacts::ExplanationFacts(const Explanation& explanation) {
    facts_.push_back({"backend", explanation.backend});
    facts_.push_back({"mode", explanation.mode});
    facts_.push_back({"size", to_string(explanation.bucket)});
    for (const ProgramSummary& program : explanation.programs) {
        add_count(program.name + ": runs", program.runs);
        add_count(program.name + ": nodes recorded", program.recorded_nodes);
        add_count(program.name + ": nodes rewritten", program.nodes);
        add_count(program.name + ": kernels", program.kernels);
        add_count(program.name + ": steps", program.steps);
        add_count(program.name + ": launches", program.launches);
        add_flops(program.name + ": work", program.flops);
        add_bytes(program.name + ": moved", program.bytes);
        add_bytes(program.name + ": weights", program.weight_bytes);
    }
    add_count("forecast: launches", explanation.launches());
    add_count("forecast: graphs replayed", explanation.graph_launches);
    add_flops("forecast: work", explanation.flops());
    add_bytes("forecast: moved", explanation.bytes());
    add_bytes("memory: shared weights", explanation.shared_weight_bytes);
    add_bytes("memory: own weights", explanation.own_weight_bytes);
    add_bytes("memory: states", explanation.state_bytes);
    add_bytes("memory: cached keys and values", explanation.cache_bytes);
    add_bytes("memory: intermediates", explanation.arena_bytes);
    add_bytes("memory: workspace", explanation.workspace_bytes);
    add_bytes("memory: a forecaster's in all", explanation.memory_bytes());
}

TOTOGRAPH_INLINE std::string memory_text(const Explanation& explanation) {
    using totograph::detail::bytes_text;
    std::vector<std::string> parts;
    const auto add = [&](std::string_view name, std::size_t bytes, std::string_view further = {}) {
        if (bytes > 0) {
            parts.push_back(std::string(name) + " " + bytes_text(bytes) + std::string(further));
        }
    };
    const std::size_t caches = explanation.cache_bytes;
    add("states", explanation.state_bytes, caches == 0 ? "" : " (caches " + bytes_text(caches) + ")");
    add("intermediates", explanation.arena_bytes);
    add("workspace", explanation.workspace_bytes);
    add("its own weights", explanation.own_weight_bytes);
    return bytes_text(explanation.memory_bytes()) + (parts.empty() ? "" : ": ") + totograph::detail::join(parts, ", ");
}

}  // namespace detail

TOTOGRAPH_INLINE std::string to_string(const Explanation& explanation, const DeviceSpeed* speed) {
    using totograph::detail::bytes_text;
    using totograph::detail::flops_text;
    totograph::detail::TextTable table({{"program"},
                                        {"runs", true},
                                        {"recorded", true},
                                        {"nodes", true},
                                        {"kernels", true},
                                        {"steps", true},
                                        {"launches", true},
                                        {"work", true},
                                        {"moved", true},
                                        {"weights", true},
                                        {"from memory"}});
    for (const ProgramSummary& program : explanation.programs) {
        table.add_row({program.name, std::to_string(program.runs), std::to_string(program.recorded_nodes),
                       std::to_string(program.nodes), std::to_string(program.kernels), std::to_string(program.steps),
                       std::to_string(program.launches), flops_text(program.flops), bytes_text(program.bytes),
                       bytes_text(program.weight_bytes), speed == nullptr ? "" : detail::floor_text(program, *speed)});
    }
    std::string text = explanation.backend + " in mode " + explanation.mode + ", size " +
                       to_string(explanation.bucket) + "\n\n" + table.text() + "\n";
    text += "a forecast   " + std::to_string(explanation.launches()) + " launches, " + flops_text(explanation.flops()) +
            ", " + bytes_text(explanation.bytes()) + " moved";
    text += explanation.graph_launches == 0
                ? "\n"
                : ", as " +
                      totograph::detail::count_text(static_cast<std::size_t>(explanation.graph_launches), "graph",
                                                    "graphs") +
                      " replayed\n";
    if (speed != nullptr) {
        text += "floor        about " + detail::seconds_text(floor_seconds(explanation, *speed)) +
                " when all that is moved comes from memory (caches are faster), at " +
                detail::rate_text(speed->bytes_per_second) + " and " + detail::gemm_rate_text(speed->flops_per_second) +
                "\n";
    }
    text += "memory       " + detail::memory_text(explanation) + "\n";
    return explanation.shared_weight_bytes == 0
               ? text
               : text + "weights      " + bytes_text(explanation.shared_weight_bytes) + ", shared by all forecasters\n";
}

TOTOGRAPH_INLINE std::string explain_difference(const Explanation& a, const Explanation& b) {
    const detail::ExplanationFacts first(a);
    const detail::ExplanationFacts second(b);
    totograph::detail::TextTable table({{"differs"}, {"first", true}, {"second", true}, {"ratio"}});
    bool differs = false;
    const auto add = [&](const std::string& what) {
        const detail::ExplanationFact* one = first.find(what);
        const detail::ExplanationFact* other = second.find(what);
        if (one == nullptr || other == nullptr || one->text != other->text) {
            differs = true;
            detail::add_difference(table, what, one, other);
        }
    };
    for (const detail::ExplanationFact& fact : first.all()) {
        add(fact.what);
    }
    for (const detail::ExplanationFact& fact : second.all()) {
        if (first.find(fact.what) == nullptr) {
            add(fact.what);
        }
    }
    return differs ? table.text() : std::string();
}

}  // namespace totograph::serve
