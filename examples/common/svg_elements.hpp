// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "format.hpp"
#include "text.hpp"

namespace examples::detail {

/// A coordinate in pixels with two decimals at most.
inline std::string pixel(double value) {
    return trim_zeros(fixed_number(std::clamp(value, -1e5, 1e5), 2));
}

inline std::string svg_text(double x, double y, const std::string& style, const std::string& text) {
    return "<text class=\"" + style + "\" x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\">" + escape_xml(text) +
           "</text>\n";
}

inline std::string svg_line(const std::string& style, double x1, double y1, double x2, double y2) {
    return "<line class=\"" + style + "\" x1=\"" + pixel(x1) + "\" y1=\"" + pixel(y1) + "\" x2=\"" + pixel(x2) +
           "\" y2=\"" + pixel(y2) + "\"/>\n";
}

inline std::string svg_rectangle(const std::string& style, double x, double y, double width, double height) {
    return "<rect class=\"" + style + "\" x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" width=\"" + pixel(width) +
           "\" height=\"" + pixel(height) + "\"/>\n";
}

}  // namespace examples::detail
