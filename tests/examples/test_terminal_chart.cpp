// SPDX-License-Identifier: Apache-2.0
#include "../../examples/charts/terminal_chart.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace examples;

namespace {

Figure ramp_figure(std::size_t panels, std::int64_t history, std::int64_t horizon) {
    Figure figure;
    figure.title = "Forecast of ramp.csv";
    figure.history_steps = history;
    figure.horizon = horizon;
    for (std::size_t i = 0; i < panels; ++i) {
        Panel panel;
        panel.name = "ramp " + std::to_string(i);
        for (std::int64_t step = 0; step < history; ++step) {
            panel.history.push_back(static_cast<float>(step));
        }
        panel.line.assign(static_cast<std::size_t>(horizon), static_cast<float>(history));
        Band outer{90, panel.line, panel.line};
        Band inner{50, panel.line, panel.line};
        for (std::size_t step = 0; step < panel.line.size(); ++step) {
            outer.low[step] -= 40;
            outer.high[step] += 40;
            inner.low[step] -= 15;
            inner.high[step] += 15;
        }
        panel.bands = {outer, inner};
        figure.panels.push_back(panel);
    }
    return figure;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Any Braille cell: U+2800 to U+28FF begin with E2 A0 to E2 A3.
bool has_dots(const std::string& line) {
    for (const char* lead : {"\xE2\xA0", "\xE2\xA1", "\xE2\xA2", "\xE2\xA3"}) {
        if (has(line, lead)) {
            return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("no line is wider than the terminal") {
    for (const std::size_t width : {40U, 80U, 133U, 160U}) {
        Figure figure = ramp_figure(3, 120, 60);
        figure.subtitle = "a subtitle with quite a number of words that a narrow terminal cannot hold in one line";
        figure.panels[1].name = std::string(300, 'n');
        figure.panels[0].truth.assign(60, 20.0);
        figure.panels[0].baseline.assign(60, 20.0);
        figure.baseline_name = "the value 12 steps before, or something that takes more than one line to say";
        const std::string chart = terminal_chart(figure, {width, Colours::none});
        for (const std::string& line : lines_of(chart)) {
            CHECK(display_width(line) <= width);
        }
        CHECK(has(chart, "one line"));
    }
}

TEST_CASE("one block a series, with bands, lines and the start of the forecast") {
    const std::string chart = terminal_chart(ramp_figure(4, 120, 60), {100, Colours::none});
    for (const char* part : {"ramp 0", "ramp 3", "▒", "░", "┊", "50%", "90%", "median", "└", "┬"}) {
        CAPTURE(part);
        CHECK(has(chart, part));
    }
    CHECK(has_dots(chart));
    CHECK(!has(chart, "ramp 4"));
    CHECK(!has(chart, "truth"));
}

TEST_CASE("series without a panel are counted") {
    const std::string chart = terminal_chart(first_panels(ramp_figure(4, 120, 60), 3), {100, Colours::none});
    CHECK(has(chart, "ramp 2"));
    CHECK(!has(chart, "ramp 3"));
    CHECK(has(chart, "\n1 more series is not drawn; name others with --targets\n"));
}

TEST_CASE("a rising series rises in the chart") {
    Figure figure = ramp_figure(1, 200, 0);
    figure.panels[0].bands.clear();
    std::vector<std::string> rows;
    for (const std::string& line : lines_of(terminal_chart(figure, {80, Colours::none}))) {
        if (has(line, "│") || has(line, "┤")) {
            rows.push_back(line);
        }
    }
    REQUIRE(rows.size() == 11);
    const auto first_dot = [](const std::string& row) {
        std::size_t column = 0;
        for (std::size_t at = 0; at < row.size(); ++at) {
            if (has_dots(row.substr(at, 3))) {
                return column;
            }
            column += (static_cast<unsigned char>(row[at]) & 0xC0U) != 0x80U ? 1 : 0;
        }
        return row.size();
    };
    for (std::size_t row = 1; row + 2 < rows.size(); ++row) {
        CHECK(first_dot(rows[row]) > first_dot(rows[row + 1]));
    }
}

TEST_CASE("colour only when asked for, and always switched off again") {
    const Figure figure = ramp_figure(2, 60, 30);
    CHECK(!has(terminal_chart(figure, {80, Colours::none}), "\x1b"));
    for (const std::string& line : lines_of(terminal_chart(figure, {80, Colours::many}))) {
        const std::size_t last = line.rfind("\x1b[");
        if (last != std::string::npos) {
            CHECK(line.substr(last, 4) == "\x1b[0m");
        }
    }
}

/// A chart without escape sequences, and without what shades bands.
std::string without_bands(std::string chart) {
    for (std::size_t at = chart.find('\x1b'); at != std::string::npos; at = chart.find('\x1b')) {
        chart.erase(at, chart.find('m', at) - at + 1);
    }
    for (const std::string shade : {"░", "▒", "▀", "▄"}) {
        for (std::size_t at = chart.find(shade); at != std::string::npos; at = chart.find(shade)) {
            chart.replace(at, shade.size(), " ");
        }
    }
    return chart;
}

TEST_CASE("colour changes no character but those of the bands") {
    const Figure figure = ramp_figure(2, 60, 30);
    const std::string plain = without_bands(terminal_chart(figure, {80, Colours::none}));
    CHECK(without_bands(terminal_chart(figure, {80, Colours::many})) == plain);
    CHECK(without_bands(terminal_chart(figure, {80, Colours::sixteen})) == plain);
}

TEST_CASE("in colour a band lies behind the lines, which are bright on it") {
    const std::string many = terminal_chart(ramp_figure(1, 60, 30), {80, Colours::many});
    CHECK(has(many, "\x1b[48;5;24m"));       // the outer band
    CHECK(has(many, "\x1b[1;97;48;5;31m"));  // the median on the inner one
    const std::string sixteen = terminal_chart(ramp_figure(1, 60, 30), {80, Colours::sixteen});
    CHECK(has(sixteen, "\x1b[44m"));
    CHECK(has(sixteen, "\x1b[1;97;46m"));
    CHECK(!has(sixteen, ";5;"));
}

TEST_CASE("a band that is thinner than a row is still seen") {
    Figure figure = ramp_figure(1, 1000, 500);
    Panel& panel = figure.panels[0];
    panel.line.assign(500, std::numeric_limits<double>::quiet_NaN());
    for (const double level : {100.0, 333.0, 480.0, 777.0}) {
        CAPTURE(level);
        panel.bands = {{50, std::vector<double>(500, level), std::vector<double>(500, level + 1)}};
        std::size_t shaded = 0;
        const std::string chart = terminal_chart(figure, {80, Colours::none});
        for (std::size_t at = chart.find("▒"); at != std::string::npos; at = chart.find("▒", at + 1)) {
            ++shaded;
        }
        CHECK(shaded > 2 + 20);  // a third of the columns, and the legend
    }
}

TEST_CASE("names cannot steer the terminal") {
    Figure figure = ramp_figure(1, 60, 30);
    figure.title = "\x1b[2Jtitle";
    figure.panels[0].name = "\x1b]0;owned\x07";
    figure.panels[0].note = "\x1b[1m";
    CHECK(!has(terminal_chart(figure, {80, Colours::none}), "\x1b"));
    CHECK(!has(terminal_chart(figure, {80, Colours::none}), "\x07"));
}

TEST_CASE("a note has the room that the name leaves") {
    Figure figure = ramp_figure(1, 60, 30);
    figure.panels[0].name = "co2_ppm";
    figure.panels[0].note = "MAE 0.245 (baseline 1.88), MASE 0.186 (1.43)";
    CHECK(has(terminal_chart(figure, {80, Colours::none}), "co2_ppm  " + figure.panels[0].note + "\n"));
    figure.panels[0].name.assign(100, 'n');
    CHECK(has(terminal_chart(figure, {80, Colours::none}), "nnn…  MAE 0.245 (baseline 1.88), MASE 0.186"));
}

TEST_CASE("the truth has a mark of its own without colour") {
    Figure figure = ramp_figure(1, 60, 30);
    figure.panels[0].truth.assign(30, 20.0F);
    CHECK(has(terminal_chart(figure, {80, Colours::none}), "••••"));
    CHECK(has(terminal_chart(figure, {80, Colours::none}), "truth"));
}

TEST_CASE("a baseline has a mark and a name of its own") {
    Figure figure = ramp_figure(1, 60, 30);
    figure.baseline_name = "the value 12 steps before";
    CHECK(!has(terminal_chart(figure, {80, Colours::none}), "baseline"));
    figure.panels[0].baseline.assign(30, 20.0);
    const std::string chart = terminal_chart(figure, {80, Colours::none});
    CHECK(has(chart, "×× baseline: the value 12 steps before"));
    CHECK(has(chart, "××××"));
}

TEST_CASE("gaps stay blank") {
    Figure figure = ramp_figure(1, 100, 0);
    figure.panels[0].bands.clear();
    figure.panels[0].history.assign(100, std::numeric_limits<float>::quiet_NaN());
    CHECK(!has_dots(terminal_chart(figure, {80, Colours::none}).substr(200)));
    figure.panels[0].history[50] = 3;
    CHECK(has_dots(terminal_chart(figure, {80, Colours::none}).substr(200)));
}

TEST_CASE("constant series, single steps and huge values give charts without nonsense") {
    for (const float value : {0.0F, 5.0F, -3e38F, 1e-40F}) {
        for (const std::int64_t history : {0, 1, 2, 5000}) {
            Figure figure = ramp_figure(1, history, 1);
            figure.panels[0].history.assign(static_cast<std::size_t>(history), value);
            figure.panels[0].line = {value};
            figure.panels[0].bands = {{90, {value}, {value}}, {50, {value}, {value}}};
            const std::string chart = terminal_chart(figure, {80, Colours::none});
            CHECK(!has(chart, "nan"));
            CHECK(!has(chart, "inf"));
            CHECK(lines_of(chart).size() >= 14);
        }
    }
    CHECK(!terminal_chart(ramp_figure(0, 5, 5), {80, Colours::none}).empty());
}
