// SPDX-License-Identifier: Apache-2.0
#include "../../examples/charts/svg.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace examples;

namespace {

/// What is wrong with a document as XML, or nothing: tags nest, attributes are quoted and not repeated, text and values
/// hold no bare markup, entities are known, there is one root.
class XmlChecker {
public:
    explicit XmlChecker(std::string_view text) : text_(text) {}

    std::string problem() {
        if (text_.substr(0, 5) == "<?xml") {
            at_ = text_.find("?>") + 2;
        }
        while (at_ < text_.size() && problem_.empty()) {
            if (text_[at_] == '<') {
                tag();
            } else {
                character();
            }
        }
        if (problem_.empty() && !open_.empty()) {
            problem_ = "never closed: " + open_.back();
        }
        return problem_.empty() && roots_ != 1 ? "not one root" : problem_;
    }

private:
    void fail(const std::string& what) { problem_ = what + " at byte " + std::to_string(at_); }

    bool take(char wanted) {
        const bool there = at_ < text_.size() && text_[at_] == wanted;
        at_ += there ? 1 : 0;
        return there;
    }

    std::string name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-')) {
            ++at_;
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    void character() {
        const char byte = text_[at_];
        if (open_.empty() && std::isspace(static_cast<unsigned char>(byte)) == 0) {
            return fail("text outside the root");
        }
        if (byte == '&') {
            for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
                if (text_.substr(at_, entity.size()) == entity) {
                    at_ += entity.size();
                    return;
                }
            }
            return fail("unknown entity");
        }
        if (static_cast<unsigned char>(byte) < 0x20 && byte != '\n') {
            return fail("control character");
        }
        ++at_;
    }

    void tag() {
        take('<');
        const bool closing = take('/');
        const std::string tag_name = name();
        if (tag_name.empty()) {
            return fail("no tag name");
        }
        if (closing) {
            if (open_.empty() || open_.back() != tag_name || !take('>')) {
                return fail("wrong closing tag " + tag_name);
            }
            open_.pop_back();
            return;
        }
        roots_ += open_.empty() ? 1 : 0;
        std::set<std::string> seen;
        while (take(' ')) {
            const std::string attribute = name();
            if (!seen.insert(attribute).second || !take('=') || !take('"')) {
                return fail("bad attribute " + attribute);
            }
            open_.push_back(tag_name);  // a value is checked like text inside the element
            while (at_ < text_.size() && text_[at_] != '"' && problem_.empty()) {
                if (text_[at_] == '<') {
                    return fail("markup in an attribute");
                }
                character();
            }
            open_.pop_back();
            take('"');
        }
        if (take('/')) {
            return take('>') ? void() : fail("bad end of tag");
        }
        if (!take('>')) {
            return fail("bad end of tag");
        }
        open_.push_back(tag_name);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::string> open_;
    int roots_ = 0;
    std::string problem_;
};

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

/// The text of a document with its style sheet taken out.
std::string without_style(const std::string& svg) {
    const std::size_t begin = svg.find("<style>");
    return svg.substr(0, begin) + svg.substr(svg.find("</style>"));
}

Figure wave_figure(std::size_t panels, std::int64_t history, std::int64_t horizon) {
    Figure figure;
    figure.title = "Forecast of waves.csv";
    figure.subtitle = "some waves";
    figure.history_steps = history;
    figure.horizon = horizon;
    for (std::size_t i = 0; i < panels; ++i) {
        Panel panel;
        panel.name = "wave " + std::to_string(i);
        for (std::int64_t step = 0; step < history; ++step) {
            panel.history.push_back(std::sin(0.1F * static_cast<float>(step)));
        }
        Band outer{90, {}, {}};
        Band inner{50, {}, {}};
        for (std::int64_t step = 0; step < horizon; ++step) {
            const float middle = std::sin(0.1F * static_cast<float>(history + step));
            panel.line.push_back(middle);
            outer.low.push_back(middle - 0.5F);
            outer.high.push_back(middle + 0.5F);
            inner.low.push_back(middle - 0.2F);
            inner.high.push_back(middle + 0.2F);
        }
        panel.bands = {outer, inner};
        figure.panels.push_back(panel);
    }
    return figure;
}

/// All properties that any document must have, whatever the data.
std::string checked_document(const Figure& figure) {
    std::string svg = svg_document(figure);
    CHECK(XmlChecker(svg).problem() == "");
    CHECK(count(svg, "<g class=\"panel\">") == figure.panels.size());
    for (const char* number : {"nan", "inf", "NaN"}) {
        CHECK(count(without_style(svg), number) == 0);
    }
    // Nothing is fetched from elsewhere: the only address is the name of the SVG language.
    CHECK(count(svg, "http") == 1);
    CHECK(count(svg, "href") == 0);
    CHECK(count(svg, "url(") == count(svg, "url(#"));
    CHECK(count(svg, "prefers-color-scheme: dark") == 1);
    return svg;
}

}  // namespace

TEST_CASE("the checker finds what is not XML") {
    CHECK(XmlChecker(R"(<a b="c"><d/>text &amp; more</a>)").problem() == "");
    for (const char* wrong : {"<a>", "<a></b>", "<a b=c/>", R"(<a b="1" b="2"/>)", "<a>&nope;</a>", "<a>x & y</a>",
                              "<a/><b/>", "text", R"(<a b="<"/>)", "<a>\x01</a>", "<a></a>tail", "<a"}) {
        CAPTURE(wrong);
        CHECK(XmlChecker(wrong).problem() != "");
    }
}

TEST_CASE("one panel a series, one and many") {
    for (const std::size_t panels : {1U, 3U, 4U, 13U}) {
        const std::string svg = checked_document(wave_figure(panels, 100, 30));
        CHECK(count(svg, "class=\"band outer\"") == panels);
        CHECK(count(svg, "class=\"forecast\" d=") == panels);
        CHECK(count(svg, "class=\"history\" d=") == panels);
        CHECK(count(svg, "class=\"truth\"") == 0);
    }
    checked_document(wave_figure(0, 10, 5));
}

TEST_CASE("of very many series the first are drawn, and the others counted") {
    const Figure many = first_panels(wave_figure(500, 20, 5), 60);
    CHECK(many.panels.size() == 60);
    CHECK(count(checked_document(many), "440 more series are not drawn; name others with --targets") == 1);
    CHECK(hidden_words(first_panels(wave_figure(3, 20, 5), 2)) ==
          "1 more series is not drawn; name others with --targets");
    CHECK(hidden_words(first_panels(wave_figure(3, 20, 5), 3)).empty());
}

TEST_CASE("names are escaped, cut and made printable") {
    Figure figure = wave_figure(1, 50, 10);
    figure.title = R"(a<b> & "c")";
    figure.panels[0].name = "</text><script>alert('x')</script>\x01\xFF";
    figure.panels[0].note = "MAE < 3 & > 2";
    const std::string svg = checked_document(figure);
    CHECK(count(svg, "<script") == 0);
    CHECK(count(svg, "&lt;script&gt;") > 0);
    CHECK(count(svg, "a&lt;b&gt; &amp; &quot;c&quot;") == 2);
    figure.panels[0].name = std::string(500, 'x');
    const std::string long_name = checked_document(figure);
    CHECK(count(long_name, "<title>" + std::string(500, 'x') + "</title>") == 1);
    CHECK(count(long_name, "x…</text>") == 1);
}

TEST_CASE("a figure without samples has only its line") {
    Figure figure = wave_figure(2, 50, 10);
    figure.line_name = "mean";
    for (Panel& panel : figure.panels) {
        panel.bands.clear();
    }
    const std::string svg = checked_document(figure);
    CHECK(count(svg, "class=\"band") == 0);
    CHECK(count(svg, "forecast, mean") == 1);
}

TEST_CASE("gaps break the line, lone values are dots") {
    Figure figure = wave_figure(1, 6, 3);
    const float gap = std::numeric_limits<float>::quiet_NaN();
    figure.panels[0].history = {1, 2, gap, 4, gap, std::numeric_limits<float>::infinity()};
    const std::string svg = checked_document(figure);
    const std::size_t begin = svg.find(R"(class="history" d=")");
    const std::string path = svg.substr(begin, svg.find("/>", begin) - begin);
    CHECK(count(path, "M") == 2);
    CHECK(count(path, "h0") == 1);
    figure.panels[0].history.assign(6, gap);
    CHECK(count(checked_document(figure), "class=\"history\" d=") == 0);
    figure.panels[0].line.assign(3, gap);
    figure.panels[0].bands.clear();
    checked_document(figure);
}

TEST_CASE("the hidden truth is drawn and explained") {
    Figure figure = wave_figure(1, 50, 10);
    figure.panels[0].truth.assign(10, 0.5F);
    figure.panels[0].note = "MAE 0.25";
    const std::string svg = checked_document(figure);
    CHECK(count(svg, "class=\"truth\"") == 2);
    CHECK(count(svg, "MAE 0.25") == 1);
}

TEST_CASE("the baseline is drawn, and the legend keeps to the page") {
    Figure figure = wave_figure(1, 50, 10);
    figure.panels[0].truth.assign(10, 0.5);
    figure.panels[0].baseline.assign(10, 0.25);
    figure.baseline_name = "the value 12 steps before";
    const std::string svg = checked_document(figure);
    CHECK(count(svg, "class=\"baseline\"") == 2);
    CHECK(count(svg, "baseline, the value 12 steps before") == 1);
    const std::size_t begin = svg.find("<g class=\"legend\">");
    const std::string legend = svg.substr(begin, svg.find("</g>", begin) - begin);
    std::set<double> lines;
    for (std::size_t at = legend.find("<text"); at != std::string::npos; at = legend.find("<text", at + 1)) {
        const double x = std::stod(legend.substr(legend.find("x=\"", at) + 3));
        lines.insert(std::stod(legend.substr(legend.find("y=\"", at) + 3)));
        const std::size_t words = legend.find('>', at) + 1;
        const std::string label = legend.substr(words, legend.find('<', words) - words);
        CHECK(x + 6.6 * static_cast<double>(display_width(label)) <= 880 - 32);
    }
    CHECK(lines.size() == 2);
    CHECK(count(checked_document(wave_figure(1, 50, 10)), "baseline, ") == 0);
}

TEST_CASE("constant series, single steps, huge and tiny values") {
    Figure constant = wave_figure(1, 20, 5);
    constant.panels[0].history.assign(20, 7.0F);
    constant.panels[0].line.assign(5, 7.0F);
    constant.panels[0].bands = {{90, std::vector<double>(5, 7.0F), std::vector<double>(5, 7.0F)}};
    checked_document(constant);
    checked_document(wave_figure(1, 1, 1));
    checked_document(wave_figure(1, 0, 1));
    checked_document(wave_figure(1, 1, 0));
    checked_document(wave_figure(1, 0, 0));
    for (const float scale : {3.0e38F, 1e-40F, -1e9F}) {
        Figure figure = wave_figure(1, 50, 10);
        for (Panel& panel : figure.panels) {
            for (double& value : panel.history) {
                value *= scale;
            }
        }
        checked_document(figure);
    }
}

TEST_CASE("an outer band far out is cut off, and the figure says so") {
    Figure figure = wave_figure(1, 50, 10);
    figure.panels[0].bands[0].high.assign(10, 1e6F);
    CHECK(value_view(figure.panels[0]).band_cut);
    CHECK(value_view(figure.panels[0]).range.high < 10);
    CHECK(count(checked_document(figure), "outer band cut off") == 1);
    CHECK(!value_view(wave_figure(1, 50, 10).panels[0]).band_cut);
}

TEST_CASE("the same figure is the same document, and all of it lies on the page") {
    const Figure figure = wave_figure(5, 100, 30);
    CHECK(svg_document(figure) == svg_document(figure));
    const std::string svg = svg_document(figure);
    const double height = std::stod(svg.substr(svg.find("height=\"") + 8));
    for (std::size_t at = svg.find(" y=\""); at != std::string::npos; at = svg.find(" y=\"", at + 1)) {
        const double y = std::stod(svg.substr(at + 4));
        CHECK(y >= 0);
        CHECK(y <= height);
    }
}
