// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// A number for a file: twelve significant digits, without zeros at their end, which is more than a forecast has; of
/// counters, which are large beside what they change by, all of them. Empty for NaN and infinity (a blank CSV field).
inline std::string exact_number(double value) {
    if (!std::isfinite(value)) {
        return "";
    }
    constexpr double least_of_counters = 1e9;
    std::array<char, 32> buffer{};
    char* const end = buffer.data() + buffer.size();
    const auto written = std::abs(value) >= least_of_counters
                             ? std::to_chars(buffer.data(), end, value)
                             : std::to_chars(buffer.data(), end, value, std::chars_format::general, 12);
    return {buffer.data(), written.ptr};
}

/// `value` with a fixed number of decimals; never "-0".
inline std::string fixed_number(double value, int decimals) {
    std::array<char, 512> buffer{};
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    std::string text(buffer.data(), written.ptr);
    const bool zero = text.find_first_not_of("-0.") == std::string::npos;
    return zero && text.front() == '-' ? text.substr(1) : text;
}

/// Removes zeros at the end of a fixed decimal, and the point when nothing is left behind it.
inline std::string trim_zeros(std::string text) {
    if (text.find('.') == std::string::npos) {
        return text;
    }
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text;
}

/// `value` in `digits` significant digits for a person to read: plain decimals from 1e-4 up to 1e7, an exponent
/// outside.
inline std::string short_number(double value, int digits = 4) {
    if (!std::isfinite(value)) {
        return "–";
    }
    if (value == 0) {
        return "0";
    }
    const double magnitude = std::abs(value);
    if (magnitude >= 1e-4 && magnitude < 1e7) {
        const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
        return trim_zeros(fixed_number(value, std::max(0, digits - 1 - exponent)));
    }
    std::array<char, 64> buffer{};
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, digits - 1);
    const std::string text(buffer.data(), written.ptr);
    const std::size_t split = text.find('e');
    int exponent = 0;
    std::from_chars(text.data() + split + (text[split + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
    return trim_zeros(text.substr(0, split)) + "e" + std::to_string(exponent);
}

/// `value` for a file, in 5 significant digits, and more where so many tell little of it beside others that differ by
/// `spread`: three of the spread, and all where nothing is apart, as near 1e16, where doubles lie 2 apart. Whole digits
/// are never left out up to 1e15. Empty for NaN and infinity.
inline std::string number_beside(double value, double spread) {
    if (!std::isfinite(value)) {
        return "";
    }
    if (value == 0) {
        return "0";
    }
    if (spread == 0) {
        return exact_number(value);
    }
    const auto exponent = [](double number) { return static_cast<int>(std::floor(std::log10(std::abs(number)))); };
    const int digits = std::isfinite(spread) ? std::clamp(exponent(value) - exponent(spread) + 3, 5, 17) : 5;
    if (std::abs(value) >= 1e-4 && std::abs(value) < 1e15) {
        return trim_zeros(fixed_number(value, std::max(0, digits - 1 - exponent(value))));
    }
    std::array<char, 64> buffer{};
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits);
    return {buffer.data(), written.ptr};
}

/// A whole number with commas between thousands.
inline std::string count_text(std::int64_t count) {
    std::string text = std::to_string(count);
    const std::ptrdiff_t first = count < 0 ? 1 : 0;
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first; at -= 3) {
        text.insert(static_cast<std::size_t>(at), 1, ',');
    }
    return text;
}

/// "1 step", "2 steps".
inline std::string plural(std::int64_t count, const std::string& noun) {
    return count_text(count) + " " + noun + (count == 1 || noun == "series" ? "" : "s");
}

/// A closed range of values, never empty and never of width zero once `padded`.
struct Range {
    double low = 0;
    double high = 0;

    [[nodiscard]] double width() const { return high - low; }
};

/// The range widened by `share` of its width on both sides; one without width (a constant series) is opened around it.
inline Range padded(Range range, double share) {
    const double magnitude = std::max(std::abs(range.low), std::abs(range.high));
    const double width = range.width();
    if (width <= magnitude * 1e-6 || width == 0) {
        const double margin = magnitude == 0 ? 1.0 : magnitude * 0.05;
        return {range.low - margin, range.high + margin};
    }
    return {range.low - width * share, range.high + width * share};
}

/// A 1, 2, 2.5 or 5 times a power of ten, the smallest that is not below `least`.
inline double nice_step(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
        if (factor * power >= least * (1 - 1e-9)) {
            return factor * power;
        }
    }
    return 10 * power;
}

/// Round positions inside a padded range, at most `most` (and at least 2) of them where round positions allow.
inline std::vector<double> nice_ticks(Range range, std::size_t most) {
    const double step = nice_step(range.width() / static_cast<double>(std::max<std::size_t>(most, 2)));
    std::vector<double> ticks;
    const double first = std::ceil(range.low / step - 1e-9);
    for (double index = first; index * step <= range.high + step * 1e-9 && ticks.size() <= most; ++index) {
        ticks.push_back(index * step);
    }
    return ticks;
}

/// Labels for the ticks of one axis, all with the same unit (k, M, G, T, P) and the same number of decimals.
inline std::vector<std::string> tick_labels(const std::vector<double>& ticks) {
    double largest = 0;
    for (const double tick : ticks) {
        largest = std::max(largest, std::abs(tick));
    }
    const double step = ticks.size() > 1 ? std::abs(ticks[1] - ticks[0]) : std::max(largest, 1.0);
    const auto decimals_at = [&](double scale) {
        int decimals = 0;
        for (double unit = step / scale; decimals < 12 && std::abs(unit - std::round(unit)) > 1e-6 * unit; unit *= 10) {
            ++decimals;
        }
        return decimals;
    };
    double scale = 1;
    std::string suffix;
    if (largest >= 1e4) {
        const std::array<const char*, 5> names = {"k", "M", "G", "T", "P"};
        const auto power =
            std::min<std::size_t>(static_cast<std::size_t>(std::log10(largest) / 3 + 1e-9), names.size());
        const double wanted = std::pow(1000.0, static_cast<double>(power));
        // Small steps on a large offset read better in full (1,000,002 is told from 1,000,004 sooner than 1.000002M).
        if (decimals_at(wanted) <= 2 || largest >= 1e9) {
            scale = wanted;
            suffix = names[power - 1];
        }
    }
    const int decimals = decimals_at(scale);
    std::vector<std::string> labels;
    for (const double tick : ticks) {
        if (largest >= 1e18 || (largest > 0 && largest < 1e-4)) {
            labels.push_back(short_number(std::abs(tick) < step * 1e-6 ? 0 : tick, 4));
        } else {
            const std::string digits = fixed_number(tick / scale, decimals);
            labels.push_back(digits.find_first_not_of("-0.") == std::string::npos ? "0" : digits + suffix);
        }
    }
    return labels;
}

}  // namespace examples
