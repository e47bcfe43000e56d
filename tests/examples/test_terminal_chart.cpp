// SPDX-License-Identifier: Apache-2.0
#include "../../examples/forecast/terminal_chart.hpp"

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
        const std::string chart = terminal_chart(figure, {width, false});
        for (const std::string& line : lines_of(chart)) {
            CHECK(display_width(line) <= width);
        }
        CHECK(has(chart, "one line"));
    }
}

TEST_CASE("one block a series, with bands, lines and the start of the forecast") {
    const std::string chart = terminal_chart(ramp_figure(4, 120, 60), {100, false});
    for (const char* part : {"ramp 0", "ramp 3", "▒", "░", "┊", "50%", "90%", "median", "└", "┬"}) {
        CAPTURE(part);
        CHECK(has(chart, part));
    }
    CHECK(has_dots(chart));
    CHECK(!has(chart, "ramp 4"));
    CHECK(!has(chart, "truth"));
}

TEST_CASE("a rising series rises in the chart") {
    Figure figure = ramp_figure(1, 200, 0);
    figure.panels[0].bands.clear();
    std::vector<std::string> rows;
    for (const std::string& line : lines_of(terminal_chart(figure, {80, false}))) {
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
    CHECK(!has(terminal_chart(figure, {80, false}), "\x1b"));
    for (const std::string& line : lines_of(terminal_chart(figure, {80, true}))) {
        const std::size_t last = line.rfind("\x1b[");
        if (last != std::string::npos) {
            CHECK(line.substr(last, 4) == "\x1b[0m");
        }
    }
}

TEST_CASE("colour changes no character") {
    Figure figure = ramp_figure(2, 60, 30);
    std::string coloured = terminal_chart(figure, {80, true});
    for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b')) {
        coloured.erase(at, coloured.find('m', at) - at + 1);
    }
    CHECK(coloured == terminal_chart(figure, {80, false}));
}

TEST_CASE("names cannot steer the terminal") {
    Figure figure = ramp_figure(1, 60, 30);
    figure.title = "\x1b[2Jtitle";
    figure.panels[0].name = "\x1b]0;owned\x07";
    figure.panels[0].note = "\x1b[1m";
    CHECK(!has(terminal_chart(figure, {80, false}), "\x1b"));
    CHECK(!has(terminal_chart(figure, {80, false}), "\x07"));
}

TEST_CASE("the truth has a mark of its own without colour") {
    Figure figure = ramp_figure(1, 60, 30);
    figure.panels[0].truth.assign(30, 20.0F);
    CHECK(has(terminal_chart(figure, {80, false}), "••••"));
    CHECK(has(terminal_chart(figure, {80, false}), "truth"));
}

TEST_CASE("gaps stay blank") {
    Figure figure = ramp_figure(1, 100, 0);
    figure.panels[0].bands.clear();
    figure.panels[0].history.assign(100, std::numeric_limits<float>::quiet_NaN());
    CHECK(!has_dots(terminal_chart(figure, {80, false}).substr(200)));
    figure.panels[0].history[50] = 3;
    CHECK(has_dots(terminal_chart(figure, {80, false}).substr(200)));
}

TEST_CASE("constant series, single steps and huge values give charts without nonsense") {
    for (const float value : {0.0F, 5.0F, -3e38F, 1e-40F}) {
        for (const std::int64_t history : {0, 1, 2, 5000}) {
            Figure figure = ramp_figure(1, history, 1);
            figure.panels[0].history.assign(static_cast<std::size_t>(history), value);
            figure.panels[0].line = {value};
            figure.panels[0].bands = {{90, {value}, {value}}, {50, {value}, {value}}};
            const std::string chart = terminal_chart(figure, {80, false});
            CHECK(!has(chart, "nan"));
            CHECK(!has(chart, "inf"));
            CHECK(lines_of(chart).size() >= 14);
        }
    }
    CHECK(!terminal_chart(ramp_figure(0, 5, 5), {80, false}).empty());
}
