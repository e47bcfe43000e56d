// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/explain/explain_html.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/explain/names.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/serve/explain/explain_text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/explain/html_parts.hpp>
#include <totograph/serve/metrics/forecast_counters.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>

namespace totograph::serve {

namespace detail {

/// The steps of a program as a table, with arrows beside it. Equal layers in a row are one, with their number.
class HtmlProgram {
public:
    HtmlProgram(const PageProgram& program, const ExplanationPage& page, double forecast_seconds, Index runs)
        : tables_(program.tables),
          seconds_(program.step_seconds),
          page_(page),
          forecast_seconds_(forecast_seconds),
          runs_(runs),
          words_(tables_),
          names_(tables_),
          sections_(words_.sections(true)) {
        for (const totograph::detail::Section& section : sections_) {
            const int heading = sections_.size() > 1 ? 1 : 0;
            for (int i = 0; i < section.count * section.repeats; ++i) {
                row_of_.push_back(row_count_ + heading + i % section.count);
            }
            row_count_ += heading + section.count;
        }
    }

    [[nodiscard]] std::string text() const {
        std::string rows;
        for (std::size_t place = 0; place < sections_.size(); ++place) {
            rows += sections_.size() > 1 ? heading(place) : "";
            for (int i = 0; i < sections_[place].count; ++i) {
                rows += row(sections_[place], sections_[place].first + i);
            }
        }
        return R"(<div class="scroll"><div class="steps">)" + arrows() +
               "<table><thead><tr><th class=\"number\">step</th><th>computes</th><th class=\"number\">times</th>"
               "<th>result</th><th>reads</th><th>weights</th><th class=\"number\">work</th><th class=\"number\">moved"
               "</th><th class=\"number\">floor</th><th class=\"number\">took</th><th>share of a forecast</th></tr>"
               "</thead><tbody>\n" +
               rows + "</tbody></table></div></div>\n";
    }

    /// The distinct kernels, the one that took longest first.
    [[nodiscard]] std::string kernels() const {
        struct Used {
            std::size_t number;
            int first = -1;
            Index steps = 0;
            double seconds = 0;
        };
        std::vector<Used> all;
        for (std::size_t number = 0; number < tables_.kernels.size(); ++number) {
            all.push_back({number});
        }
        for (std::size_t place = 0; place < tables_.steps.size(); ++place) {
            Used& used = all[static_cast<std::size_t>(tables_.steps[place].kernel)];
            used.first = used.first < 0 ? static_cast<int>(place) : used.first;
            ++used.steps;
            used.seconds += seconds_.empty() ? 0 : seconds_[place];
        }
        std::stable_sort(all.begin(), all.end(), [](const Used& a, const Used& b) { return a.seconds > b.seconds; });
        std::string text =
            "<h3>Kernels</h3><div class=\"scroll\"><table><thead><tr><th class=\"number\">kernel</th><th>computes</th>"
            "<th>over</th><th class=\"number\">steps</th><th class=\"number\">took in all</th><th>share of a forecast"
            "</th></tr></thead><tbody>\n";
        for (const Used& used : all) {
            const Kernel& kernel = tables_.kernels[used.number];
            text += "<tr>" + number(std::to_string(used.number)) + words(kernel, words_.step(used.first).line()) +
                    html_element("td", totograph::detail::shape_text(kernel.iteration)) +
                    number(std::to_string(used.steps)) + number(seconds_text(used.seconds)) + bar(used.seconds) +
                    "</tr>\n";
        }
        return text + "</tbody></table></div>\n";
    }

private:
    [[nodiscard]] static std::string number(std::string_view text) { return html_element("td", text, "number"); }

    [[nodiscard]] static std::string words(const Kernel& kernel, const std::string& line) {
        const std::string_view kind = html_class(kernel);
        const std::string what = totograph::detail::escape_markup(line.empty() ? "copy" : line);
        return R"(<td class="words" title=")" + what + R"("><span class="chip )" + std::string(kind) + R"(">)" +
               std::string(1, static_cast<char>(kind.front() - 'a' + 'A')) + "</span>" + what + "</td>";
    }

    [[nodiscard]] std::string bar(double seconds) const {
        if (forecast_seconds_ <= 0) {
            return "<td></td>";
        }
        const double share = 100 * seconds * static_cast<double>(runs_) / forecast_seconds_;
        return R"(<td><span class="bar" style="width:)" + totograph::detail::number_text(share, 3) + R"(px"></span> )" +
               totograph::detail::number_text(share, share < 10 ? 2 : 3) + "%</td>";
    }

    [[nodiscard]] const Kernel& kernel_of(int place) const {
        return tables_.kernels[static_cast<std::size_t>(tables_.steps[static_cast<std::size_t>(place)].kernel)];
    }

    /// What a step and the same one of the equal layers behind it took together.
    [[nodiscard]] double seconds_of(const totograph::detail::Section& section, int place) const {
        double seconds = 0;
        for (int turn = 0; !seconds_.empty() && turn < section.repeats; ++turn) {
            seconds += seconds_[static_cast<std::size_t>(place + turn * section.count)];
        }
        return seconds;
    }

    [[nodiscard]] std::string heading(std::size_t place) const {
        const totograph::detail::Section& section = sections_[place];
        double seconds = 0;
        for (int i = 0; i < section.count; ++i) {
            seconds += seconds_of(section, section.first + i);
        }
        std::string text = totograph::detail::ProgramNames::section_title(sections_, place);
        text += section.repeats > 1
                    ? ", alike: " +
                          totograph::detail::count_text(static_cast<std::size_t>(section.count), "step", "steps") +
                          " told once, run " + std::to_string(section.repeats) + " times"
                    : "";
        return R"(<tr class="layer"><td></td><td colspan="8">)" + totograph::detail::escape_markup(text) + "</td>" +
               number(seconds_text(seconds)) + bar(seconds) + "</tr>\n";
    }

    [[nodiscard]] std::string row(const totograph::detail::Section& section, int place) const {
        const Step& step = tables_.steps[static_cast<std::size_t>(place)];
        const totograph::detail::StepWords& told = words_.step(place);
        const StepFacts facts = facts_of(kernel_of(place), page_.storage) * section.repeats;
        const Index moved = facts.bytes_read + facts.bytes_written;
        std::vector<std::string> sources;
        for (const totograph::detail::Source& source : told.sources) {
            sources.push_back(source.is_state ? names_.state(source.index, told.layer)
                                              : "step " + std::to_string(source.index));
        }
        const auto cell = [](const std::string& text) {
            return R"(<td class="names" title=")" + totograph::detail::escape_markup(text) + R"(">)" +
                   totograph::detail::escape_markup(text) + "</td>";
        };
        const double least = page_.speed ? std::max(static_cast<double>(moved) / page_.speed->bytes_per_second,
                                                    static_cast<double>(facts.flops) / page_.speed->flops_per_second)
                                         : 0;
        const double took = seconds_of(section, place);
        return "<tr>" + number(std::to_string(place)) + words(kernel_of(place), told.line()) +
               number(section.repeats > 1 ? "x " + std::to_string(section.repeats) : "") +
               html_element("td",
                            totograph::detail::shape_text(tables_.nodes[static_cast<std::size_t>(step.node)].shape)) +
               cell(totograph::detail::join(sources, ", ")) + cell(names_.weights(told.weights, told.layer)) +
               number(facts.flops == 0 ? "-" : totograph::detail::flops_text(facts.flops)) +
               number(totograph::detail::bytes_text(moved)) + number(seconds_text(least)) + number(seconds_text(took)) +
               bar(took) + "</tr>\n";
    }

    /// From what makes a value to each that reads it. What a layer hands to the next of its kind is dashed, what only
    /// tells where to read or write is dotted.
    [[nodiscard]] std::string arrows() const {
        std::set<std::pair<int, int>> drawn;
        std::string paths;
        for (std::size_t place = 0; place < row_of_.size(); ++place) {
            for (const totograph::detail::Source& source : words_.step(static_cast<int>(place)).sources) {
                if (source.is_state) {
                    continue;
                }
                const int from = row_of_[static_cast<std::size_t>(source.index)];
                if (drawn.emplace(from, row_of_[place]).second) {
                    paths += arrow(from, row_of_[place], source.is_position);
                }
            }
        }
        return R"(<svg class="arrows" width="92" height=")" + std::to_string((row_count_ + 1) * html_row_height) +
               R"(" aria-hidden="true">)" + paths + "</svg>";
    }

    [[nodiscard]] static std::string arrow(int from, int to, bool is_position) {
        const auto middle = [](int row) { return std::to_string((row + 1) * html_row_height + html_row_height / 2); };
        const int distance = from < to ? to - from : from - to + 4;
        const std::string turn = std::to_string(std::max(4, 80 - 6 * distance));
        const std::string style = from >= to ? " class=\"back\"" : is_position ? " class=\"position\"" : "";
        return "<path" + style + " d=\"M88 " + middle(from) + " C" + turn + " " + middle(from) + " " + turn + " " +
               middle(to) + " 88 " + middle(to) + R"("/><circle cx="88" cy=")" + middle(to) + R"(" r="2.5"/>)";
    }

    ProgramTables tables_;
    std::vector<double> seconds_;
    const ExplanationPage& page_;
    double forecast_seconds_;
    Index runs_;
    totograph::detail::ProgramWords words_;
    totograph::detail::ProgramNames names_;
    std::vector<totograph::detail::Section> sections_;
    std::vector<int> row_of_;  ///< Of each step, by the place of the one that is told for it.
    int row_count_ = 0;
};

/// The tiles at the head of the page.
inline std::string html_facts(const ExplanationPage& page) {
    std::string text = "<dl class=\"facts\">";
    const auto add = [&](std::string_view what, const std::string& value) {
        text += "<div>" + html_element("dt", what) + html_element("dd", value) + "</div>";
    };
    const Explanation& facts = page.explanation;
    if (page.forecast_seconds > 0) {
        add("a forecast took", seconds_text(page.forecast_seconds));
    }
    if (page.speed) {
        add("floor: all from memory", seconds_text(floor_seconds(facts, *page.speed)));
    }
    add("launches", std::to_string(facts.launches()));
    add("graphs replayed", std::to_string(facts.graph_launches));
    add("work", totograph::detail::flops_text(facts.flops()));
    add("moved", totograph::detail::bytes_text(facts.bytes()));
    add("memory of its own", totograph::detail::bytes_text(facts.memory_bytes()));
    add("weights, shared", totograph::detail::bytes_text(facts.shared_weight_bytes));
    if (page.counts) {
        add("forecasts made", std::to_string(page.counts->forecasts));
        add("builds", std::to_string(page.counts->builds));
        add("captures", std::to_string(page.counts->captures));
        std::string reasons;
        for (const RecaptureReason reason : all_recapture_reasons) {
            const std::uint64_t count = page.counts->recaptures[static_cast<std::size_t>(reason)];
            reasons += count == 0
                           ? ""
                           : (reasons.empty() ? ": " : ", ") + std::to_string(count) + " " + std::string(name(reason));
        }
        add("recaptures after warm-up", std::to_string(page.counts->all_recaptures()) + reasons);
    }
    return text + "</dl>\n";
}

}  // namespace detail

TOTOGRAPH_INLINE std::string explain_html(const ExplanationPage& page) {
    const Explanation& facts = page.explanation;
    const std::string title = facts.backend + " in mode " + facts.mode + ", size " + to_string(facts.bucket);
    std::string text =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><title>" +
        totograph::detail::escape_markup(title) + "</title><style>" + std::string(detail::html_style) +
        "</style></head><body>\n" + detail::html_element("h1", "What runs for a forecast") +
        detail::html_element("p", title) + detail::html_facts(page) + "<p class=\"legend\">";
    for (const std::string_view kind : {"gemm", "attention", "reduction", "elementwise", "draws", "other"}) {
        text += "<span><span class=\"chip " + std::string(kind) + "\">" +
                std::string(1, static_cast<char>(kind.front() - 'a' + 'A')) + "</span>" +
                std::string(kind == "gemm"    ? "product of matrices (GEMM)"
                            : kind == "draws" ? "random numbers"
                                              : kind) +
                "</span>";
    }
    text +=
        "</p><p>Each row is a step: what was fused into one kernel call. A line at the left leads from the step that "
        "makes a value to each that reads it; dashed: to the next of equal layers; dotted: it tells where to read "
        "or write. Work, moved, floor and took are of all equal layers together, in one run.</p>\n";
    for (std::size_t i = 0; i < page.programs.size(); ++i) {
        const ProgramSummary& summary = facts.programs[i];
        const detail::HtmlProgram program(page.programs[i], page, page.forecast_seconds, summary.runs);
        const auto count = [](Index value, std::string_view one, std::string_view many) {
            return totograph::detail::count_text(static_cast<std::size_t>(value), one, many);
        };
        text += detail::html_element("h2", page.programs[i].title) +
                detail::html_element("p", "Run " + count(summary.runs, "time", "times") + " in a forecast. " +
                                              count(summary.recorded_nodes, "node", "nodes") + " recorded, " +
                                              std::to_string(summary.nodes) + " after rewriting, in " +
                                              count(summary.steps, "step", "steps") + " of " +
                                              count(summary.kernels, "distinct kernel", "distinct kernels") + ", " +
                                              count(summary.launches, "launch", "launches") + ".") +
                program.text() + program.kernels();
    }
    return text + "</body></html>\n";
}

}  // namespace totograph::serve
