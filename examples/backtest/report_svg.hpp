// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../common/format.hpp"
#include "../common/svg_elements.hpp"
#include "../common/svg_style.hpp"
#include "../common/text.hpp"
#include "report.hpp"

namespace examples {

namespace detail {

inline constexpr const char* report_style = R"(.model { fill: #1d4ed8; }
.naive { fill: none; stroke: #ea580c; stroke-width: 2; }
.better { stroke: #3b82f6; stroke-opacity: 0.45; stroke-width: 5; }
.worse { stroke: #ea580c; stroke-opacity: 0.45; stroke-width: 5; }
.number { font-size: 12px; text-anchor: end; font-variant-numeric: tabular-nums; }
.head { font-size: 11px; text-anchor: end; }
.track { fill: #e2e8f0; }
.filled { fill: #3b82f6; fill-opacity: 0.55; }
.wanted { stroke: #1e293b; stroke-width: 2; }
.break { stroke: #94a3b8; stroke-width: 1; stroke-dasharray: 2 5; }
@media (prefers-color-scheme: dark) {
.model { fill: #60a5fa; }
.naive, .worse { stroke: #fb923c; }
.better { stroke: #60a5fa; }
.track { fill: #1e293b; }
.filled { fill: #60a5fa; fill-opacity: 0.6; }
.wanted { stroke: #f8fafc; }
.head { fill: #94a3b8; }
}
)";

inline std::string svg_circle(const std::string& style, double x, double y, double radius) {
    return "<circle class=\"" + style + "\" cx=\"" + pixel(x) + "\" cy=\"" + pixel(y) + "\" r=\"" + pixel(radius) +
           "\"/>\n";
}

/// Draws one block for each horizon: a line for each series with both errors, and how often the intervals held.
class ReportDrawing {
public:
    ReportDrawing(std::string title, std::string subtitle, const std::vector<ReportRow>& rows, std::int64_t season)
        : title_(std::move(title)), subtitle_(std::move(subtitle)), season_(season) {
        for (const ReportRow& row : rows) {
            if (blocks_.empty() || blocks_.back().rows.front().horizon != row.horizon) {
                blocks_.emplace_back();
            }
            blocks_.back().rows.push_back(row);
        }
        for (Block& block : blocks_) {
            arrange(block);
        }
    }

    [[nodiscard]] std::string text() const {
        std::string body;
        double y = 104;
        for (const Block& block : blocks_) {
            body += draw(block, y);
            y += head_height + block.height() + 34;
            if (block.unscored > 0) {
                body += svg_text(margin, y - 18, "small", not_drawn(block.unscored, "without a ratio"));
                y += 20;
            }
        }
        const std::string size = pixel(width) + "\" height=\"" + pixel(y);
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
               "\" viewBox=\"0 0 " + pixel(width) + " " + pixel(y) + "\" role=\"img\">\n<title>" + escape_xml(title_) +
               "</title>\n<desc>" + escape_xml(subtitle_) + "</desc>\n<style>\n" + svg_style + report_style +
               "</style>\n" + svg_rectangle("page", 0, 0, width, y) +
               svg_text(margin, 42, "title", shortened(printable(title_), 68)) +
               svg_text(margin, 64, "subtitle", subtitle_) + legend(88) + body + "</svg>\n";
    }

private:
    static constexpr double width = 980;
    static constexpr double margin = 32;
    static constexpr double head_height = 62;
    static constexpr double row_height = 26;
    static constexpr double break_height = 34;
    static constexpr double plot_left = 232;
    static constexpr double plot_width = 300;
    static constexpr double numbers_left = plot_left + plot_width;
    static constexpr std::size_t most_rows = 60;

    /// One horizon.
    struct Block {
        std::vector<ReportRow> rows;
        std::size_t break_at = 0;   ///< The row above which series are left out; 0: none.
        std::int64_t between = 0;   ///< Series left out there, between the best and the worst.
        std::int64_t unscored = 0;  ///< Series without a ratio that are not drawn.

        /// Where a row begins, below the head.
        [[nodiscard]] double row_top(std::size_t row) const {
            return row_height * static_cast<double>(row) + (break_at > 0 && row >= break_at ? break_height : 0);
        }
        [[nodiscard]] double height() const { return row_top(rows.size()); }
    };

    static std::string not_drawn(std::int64_t count, const std::string& which) {
        return count_text(count) + " series " + which + (count == 1 ? " is" : " are") + " not drawn; --csv has all";
    }

    /// The mean of all first, then the series, the largest gain first, then those without a ratio. Of very many only
    /// the best and the worst are drawn, and those without a ratio where room is left.
    static void arrange(Block& block) {
        std::vector<ReportRow>& rows = block.rows;
        const auto total = [](const ReportRow& row) { return row.is_total; };
        const auto scored = [](const ReportRow& row) { return !std::isnan(row.ratio); };
        const auto first = std::stable_partition(rows.begin(), rows.end(), total);
        const auto end = std::stable_partition(first, rows.end(), scored);
        std::stable_sort(first, end, [](const ReportRow& a, const ReportRow& b) { return a.ratio < b.ratio; });
        const auto most = static_cast<std::ptrdiff_t>(most_rows);
        const std::ptrdiff_t ranked = end - first;
        const auto last = ranked < most ? first + std::min(most, rows.end() - first) : end;
        block.unscored = rows.end() - last;
        rows.erase(last, rows.end());
        if (ranked > most) {
            block.between = ranked - most;
            block.break_at = static_cast<std::size_t>(first - rows.begin() + most / 2);
            rows.erase(first + most / 2, rows.end() - most / 2);
        }
    }

    [[nodiscard]] std::string legend(double y) const {
        const std::string baseline = naive_words(season_);
        return svg_circle("model", margin + 6, y - 4, 5) + svg_text(margin + 18, y, "small", "Toto") +
               svg_circle("naive", margin + 72, y - 4, 5) + svg_text(margin + 84, y, "small", "baseline: " + baseline) +
               svg_rectangle("filled", margin + 340, y - 10, 22, 12) +
               svg_line("wanted", margin + 358, y - 12, margin + 358, y + 4) +
               svg_text(margin + 370, y, "small", "share of steps inside Toto's interval, and what it should be");
    }

    /// Errors on the axis end at this one; a few series that are far worse are cut off, as they would flatten all else.
    static double axis_end(const std::vector<ReportRow>& block) {
        std::vector<double> errors;
        for (const ReportRow& row : block) {
            for (const double error : {row.model.mase, row.naive.mase}) {
                if (std::isfinite(error)) {
                    errors.push_back(error);
                }
            }
        }
        if (errors.empty()) {
            return 1;
        }
        std::sort(errors.begin(), errors.end());
        return std::max(1e-9, 1.08 * std::min(errors.back(), 4 * errors[errors.size() / 2]));
    }

    [[nodiscard]] std::string draw(const Block& block, double top) const {
        const std::vector<ReportRow>& rows = block.rows;
        const double end = axis_end(rows);
        const double first = top + head_height;
        const double bottom = first + block.height();
        const auto x = [&](double error) { return plot_left + std::min(error / end, 1.0) * plot_width; };
        std::string svg = svg_text(margin, top + 26, "name", plural(rows.front().horizon, "step") + " ahead");
        svg += svg_text(plot_left, top + 26, "small", "mean absolute scaled error (MASE), left is better");
        const std::vector<double> ticks = nice_ticks({0, end}, 6);
        const std::vector<std::string> labels = tick_labels(ticks);
        for (std::size_t i = 0; i < ticks.size(); ++i) {
            svg += svg_line("grid", x(ticks[i]), first - 4, x(ticks[i]), bottom);
            svg += svg_text(x(ticks[i]), first - 10, "tick time", labels[i]);
        }
        const double columns[] = {numbers_left + 58, numbers_left + 118, numbers_left + 178};
        const char* heads[] = {"ratio", "CRPS", "baseline"};
        for (std::size_t i = 0; i < 3; ++i) {
            svg += svg_text(columns[i], first - 10, "tick head", heads[i]);
        }
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            svg += svg_text(interval_left(i), first - 10, "tick", "in " + std::to_string(intervals[i].percent) + "%");
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i > 0 && i == block.break_at) {
                svg += row_break(block, first + block.row_top(i) - break_height / 2);
            }
            svg += row(rows[i], first + block.row_top(i) + row_height / 2, x);
        }
        return svg;
    }

    /// The mark between the best and the worst: the page shows through the grid, between two broken lines.
    static std::string row_break(const Block& block, double y) {
        const double right = interval_left(intervals.size() - 1) + 56;
        return svg_rectangle("page", margin, y - 12, right - margin, 24) +
               svg_line("break", margin, y - 12, right, y - 12) + svg_line("break", margin, y + 12, right, y + 12) +
               svg_text(margin, y + 4, "small", "⋮  " + not_drawn(block.between, "between the best and the worst"));
    }

    static double interval_left(std::size_t i) { return numbers_left + 208 + 70 * static_cast<double>(i); }

    template <class ToPixels>
    static std::string row(const ReportRow& row, double y, const ToPixels& x) {
        std::string svg = "<g>\n" + svg_text(margin, y + 4, row.is_total ? "name" : "small",
                                             shortened(printable(row.name), row.is_total ? 22 : 28));
        const double model = row.model.mase;
        const double naive = row.naive.mase;
        if (std::isfinite(model) && std::isfinite(naive)) {
            svg += svg_line(model <= naive ? "better" : "worse", x(model), y, x(naive), y);
            svg += svg_circle("naive", x(naive), y, 4.5) + svg_circle("model", x(model), y, 5);
            if (x(std::max(model, naive)) >= numbers_left) {
                svg += svg_text(numbers_left + 7, y + 4, "small", "→");  // off the scale
            }
        }
        svg += svg_text(numbers_left + 58, y + 4, "number", short_number(row.ratio, 3));
        svg += svg_text(numbers_left + 118, y + 4, "number", short_number(row.model.crps, 3));
        svg += svg_text(numbers_left + 178, y + 4, "number", short_number(row.naive.crps, 3));
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            const double share = row.model.coverage[i];
            if (!std::isfinite(share)) {
                continue;
            }
            const double left = interval_left(i);
            const double wanted = left + 0.56 * intervals[i].percent;
            svg += svg_rectangle("track", left, y - 6, 56, 12) + svg_rectangle("filled", left, y - 6, 56 * share, 12);
            svg += svg_line("wanted", wanted, y - 8, wanted, y + 8);
        }
        return svg + "</g>\n";
    }

    std::string title_;
    std::string subtitle_;
    std::int64_t season_;
    std::vector<Block> blocks_;
};

}  // namespace detail

/// The scores as one self-contained SVG document, light or dark as the viewer prefers.
inline std::string report_svg(const std::string& title, const std::string& subtitle, const std::vector<ReportRow>& rows,
                              std::int64_t season) {
    return detail::ReportDrawing(title, subtitle, rows, season).text();
}

}  // namespace examples
