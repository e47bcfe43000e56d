// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/explain/explain_dot.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/exec/cuda/explain/explain_words.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/graph/explain/dot.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::cuda::explain_detail {

/// Parts one after the other, in lines of about `width` characters.
TOTOGRAPH_CUDA_INLINE std::vector<std::string> in_lines(const std::vector<std::string>& parts, std::size_t width) {
    std::vector<std::string> lines;
    for (const std::string& part : parts) {
        if (lines.empty() || lines.back().size() + part.size() > width) {
            lines.emplace_back(part);
        } else {
            lines.back() += "; " + part;
        }
    }
    return lines;
}

/// A list of names, some of them `stem.{weight, bias}`, cut at the commas between names.
TOTOGRAPH_CUDA_INLINE std::vector<std::string> name_parts(std::string_view names) {
    std::vector<std::string> parts;
    bool is_in_braces = false;
    std::string part;
    for (const char character : names) {
        is_in_braces = character == '{' || (is_in_braces && character != '}');
        if (character == ',' && !is_in_braces) {
            parts.push_back(std::exchange(part, {}));
        } else if (character != ' ' || !part.empty()) {
            part += character;
        }
    }
    if (!part.empty()) {
        parts.push_back(part);
    }
    return parts;
}

/// What a captured program launches as a Graphviz picture.
class LaunchDrawing {
public:
    explicit LaunchDrawing(const LaunchList& list) : list_(list) {}

    [[nodiscard]] std::string text(std::string_view title) const {
        using totograph::detail::bytes_text;
        const StepFacts facts = list_.facts();
        std::string result = totograph::detail::dot_header(std::string(title) + ": " + list_.summary() + ", " +
                                                           bytes_text(facts.bytes_read) + " read, " +
                                                           bytes_text(facts.bytes_written) + " written");
        for (std::size_t place = 0; place < list_.groups().size(); ++place) {
            result += group_text(place);
        }
        return result + edges() + "}\n";
    }

private:
    static std::string id(std::size_t launch) { return "launch" + std::to_string(launch); }

    [[nodiscard]] std::string group_text(std::size_t place) const {
        const LaunchGroup& group = list_.groups()[place];
        std::string result;
        if (group.layer >= 0) {
            const std::string first = std::to_string(group.layer);
            const std::string label =
                group.repeats == 1 ? "<b>layer " + first + "</b>"
                                   : "<b>layers " + first + "-" + std::to_string(group.layer + group.repeats - 1) +
                                         "</b> (" + std::to_string(group.repeats) + " alike, one drawn)";
            result += "  subgraph cluster_" + std::to_string(place) + " {\n    label=<" + label +
                      ">; labeljust=l; fontsize=12; style=\"rounded,filled\"; color=\"#999999\"; penwidth=1; "
                      "fillcolor=\"#f8f8f8\";\n";
        }
        for (std::size_t i = group.first; i < group.first + group.count; ++i) {
            result += "    " + node(i);
        }
        return result + (group.layer >= 0 ? "  }\n" : "");
    }

    [[nodiscard]] std::string node(std::size_t place) const {
        using namespace totograph::detail;
        const LaunchWords& words = list_.launches()[place];
        const Kernel& kernel = list_.tables().kernels[static_cast<std::size_t>(words.main_kernel)];
        std::string title;
        DotLook look = look_of(kernel);
        std::vector<std::string> lines;
        switch (words.launch.kind) {
            case LaunchKind::step: title = words.steps.front(); break;
            case LaunchKind::segment:
            case LaunchKind::rows:
                title = words.sequence_title();
                look = elementwise_look;
                break;
            case LaunchKind::skinny:
            case LaunchKind::gemm:
                title = (words.launch.gemms() == 1 ? "GEMM by " : std::to_string(words.launch.gemms()) + " GEMMs by ") +
                        std::string(words.kind()) + (words.launch.draws.is_possible ? ", and draws" : "");
                look.more = words.launch.kind == LaunchKind::gemm && words.choice.kernel != GemmKernel::skinny_cluster
                                ? ", peripheries=2"
                                : look.more;
                break;
        }
        if (words.launch.kind != LaunchKind::step) {
            lines = in_lines(words.steps, words.launch.is_sequence() ? 80 : 60);
        }
        if (!words.extra().empty()) {
            lines.push_back(words.extra());
        }
        for (const std::string& line : in_lines(name_parts(words.weights), 60)) {
            lines.push_back("weights " + line);
        }
        lines.push_back((words.launch.count == 1 ? "step " : "steps ") + words.step_range() + ": " +
                        bytes_text(words.facts.bytes_read) + " read, " + bytes_text(words.facts.bytes_written) +
                        " written" + words.storage(" as") + ", " + flops_text(words.facts.flops));
        return dot_node(id(place), look, title, lines);
    }

    /// The order in which they run.
    [[nodiscard]] std::string edges() const {
        std::string result;
        std::size_t before = list_.launches().size();
        for (const LaunchGroup& group : list_.groups()) {
            const std::size_t last = group.first + group.count - 1;
            if (before < group.first) {
                result += "  " + id(before) + " -> " + id(group.first) + ";\n";
            }
            for (std::size_t i = group.first; i < last; ++i) {
                result += "  " + id(i) + " -> " + id(i + 1) + ";\n";
            }
            if (group.repeats > 1) {
                result += "  " + id(last) + " -> " + id(group.first) +
                          " [style=dashed, constraint=false, label=\"next layer\"];\n";
            }
            before = last;
        }
        return result;
    }

    const LaunchList& list_;
};

TOTOGRAPH_CUDA_INLINE std::string draw(const LaunchList& list, std::string_view title) {
    return LaunchDrawing(list).text(title);
}

}  // namespace totograph::cuda::explain_detail
