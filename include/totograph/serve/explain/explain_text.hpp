// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>

namespace totograph::serve {

namespace detail {

inline std::string rate_text(double bytes_per_second) {
    return totograph::detail::with_unit(bytes_per_second, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}

inline std::string gemm_rate_text(double flops_per_second) {
    return totograph::detail::with_unit(flops_per_second, 1000, {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"});
}

/// The time that one run of a program takes at least when all that it moves comes from memory, and what takes it.
inline std::string floor_text(const ProgramSummary& program, const DeviceSpeed& speed) {
    const double moving = static_cast<double>(program.bytes) / speed.bytes_per_second;
    const double computing = static_cast<double>(program.flops) / speed.flops_per_second;
    return seconds_text(std::max(moving, computing)) + (moving < computing ? ", computing" : ", moving");
}

/// One fact of an explanation, for comparing two.
struct ExplanationFact {
    std::string what;
    std::string text;
    double value = 0;
    bool is_number = false;
};

/// Lists every fact of an explanation.
class ExplanationFacts {
public:
    explicit ExplanationFacts(const Explanation& explanation) {
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

    [[nodiscard]] const std::vector<ExplanationFact>& all() const { return facts_; }
    /// The fact of a name, or null.
    [[nodiscard]] const ExplanationFact* find(std::string_view what) const {
        const auto found =
            std::find_if(facts_.begin(), facts_.end(), [&](const ExplanationFact& fact) { return fact.what == what; });
        return found == facts_.end() ? nullptr : &*found;
    }

private:
    void add_count(std::string what, Index count) {
        facts_.push_back({std::move(what), std::to_string(count), static_cast<double>(count), true});
    }
    void add_flops(std::string what, Index flops) {
        facts_.push_back({std::move(what), totograph::detail::flops_text(flops), static_cast<double>(flops), true});
    }
    template <class Bytes>
    void add_bytes(std::string what, Bytes bytes) {
        facts_.push_back({std::move(what), totograph::detail::bytes_text(bytes), static_cast<double>(bytes), true});
    }

    std::vector<ExplanationFact> facts_;
};

/// One line of a difference; null for what one of the two does not have.
inline void add_difference(totograph::detail::TextTable& table, const std::string& what, const ExplanationFact* a,
                           const ExplanationFact* b) {
    const bool has_ratio = a != nullptr && b != nullptr && a->is_number && a->value != 0 && b->value != 0;
    const std::string ratio = has_ratio ? totograph::detail::number_text(b->value / a->value, 3) : "1";
    table.add_row({what, a == nullptr ? "-" : a->text, b == nullptr ? "-" : b->text, ratio == "1" ? "" : "x " + ratio});
}

/// What a forecaster holds beside the shared weights, in all and by parts, those that there are.
inline std::string memory_text(const Explanation& explanation) {
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

/// An explanation as a table of its programs, with the sums of a whole forecast and the memory below. With the speed of
/// the device, also the least time that each run and the whole forecast take when all that they move comes from memory,
/// and what they take it for: moving it or computing. What stays in a cache, such as the weights of a small model, is
/// moved faster.
inline std::string to_string(const Explanation& explanation, const DeviceSpeed* speed = nullptr) {
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

/// The lines in which two explanations differ, such as those of two modes or buckets, and how many times the first the
/// second is, where that is not 1. What reads the same, with all digits that are shown, does not differ. Empty when
/// nothing does.
inline std::string explain_difference(const Explanation& a, const Explanation& b) {
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
