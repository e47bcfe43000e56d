// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/text.hpp>

#include "../common/check_files.hpp"
#include "../common/checks.hpp"
#include "../common/format.hpp"
#include "../common/sampling.hpp"
#include "../intake/options.hpp"
#include "bounds.hpp"

namespace examples {

/// What the command line asks for.
struct Options {
    std::filesystem::path input;
    std::vector<std::string> targets;
    std::vector<std::string> exogenous;
    IntakeOptions intake;
    bool independent = false;
    bool holdout = false;
    std::int64_t season = 0;  ///< Of the baseline of a hold-out; 0: as the timestamps suggest.

    std::int64_t context = 0;  ///< 0: as many rows as the model takes
    std::int64_t horizon = 60;
    bool extend = false;  ///< Go on where the model's horizon ends.
    std::int64_t samples = 128;
    std::uint64_t seed = 0;
    std::string sampling;           ///< The option about drawn futures that was given; empty: none.
    std::vector<double> quantiles;  ///< Sorted by `check_options`; with samples and none given: 0.1, 0.9.
    Bounds bounds;                  ///< What the forecast is clipped to.
    std::filesystem::path checkpoint;
    std::filesystem::path package;  ///< Empty: what the program has compiled in.
    std::string backend;            ///< Empty: what TOTOGRAPH_BACKEND names, or the CPU.
    int threads = 0;                ///< 0: one for each core

    std::filesystem::path score_last;  ///< What `output` was at an earlier time; empty: none.
    std::filesystem::path output;      ///< "-": standard output
    std::filesystem::path svg;
    std::filesystem::path dot;
    std::filesystem::path explain_html;
    bool table = false;
    bool chart = false;
    bool no_chart = false;
    bool explain = false;
    bool quiet = false;

    /// Whether the program is asked for, in any form.
    [[nodiscard]] bool explains() const { return explain || !dot.empty() || !explain_html.empty(); }
    [[nodiscard]] bool output_is_stdout() const { return output == "-"; }

    /// The chart is what one gets without asking for anything else on standard output.
    [[nodiscard]] bool wants_chart() const {
        return chart || (!no_chart && !table && !explains() && !output_is_stdout());
    }
    /// Whether anything asked for needs the forecast's numbers.
    [[nodiscard]] bool wants_forecast() const {
        return wants_chart() || table || !output.empty() || !svg.empty() || !explains();
    }
};

namespace detail {

inline void check_columns(const Options& options) {
    const auto check_repeats = [](std::vector<std::string> names, const std::string& option) {
        std::sort(names.begin(), names.end());
        const auto twice = std::adjacent_find(names.begin(), names.end());
        if (twice != names.end()) {
            reject(option + " names the column " + totograph::io::in_quotes(*twice) + " twice; name it once.");
        }
    };
    check_repeats(options.targets, "--targets");
    check_repeats(options.exogenous, "--exogenous");
    for (const std::string& name : options.exogenous) {
        if (std::find(options.targets.begin(), options.targets.end(), name) != options.targets.end()) {
            reject("The column " + totograph::io::in_quotes(name) +
                   " is in --targets and in --exogenous; it is either forecast or given.");
        }
    }
    if (options.independent && !options.exogenous.empty()) {
        reject("--independent keeps every target to itself, so none could use the --exogenous columns; leave one out.");
    }
}

inline void check_quantiles(Options& options) {
    if (options.samples == 0 && !options.quantiles.empty()) {
        reject("--quantiles are read off samples, but --samples is 0; ask for samples, or leave --quantiles out.");
    }
    for (const double level : options.quantiles) {
        if (!(level > 0 && level < 1)) {
            reject("--quantiles lie between 0 and 1 (0.9 for the 90% quantile), but one is " + short_number(level, 6) +
                   ".");
        }
    }
    std::sort(options.quantiles.begin(), options.quantiles.end());
    options.quantiles.erase(std::unique(options.quantiles.begin(), options.quantiles.end()), options.quantiles.end());
    if (options.samples > 0 && options.quantiles.empty()) {
        options.quantiles = {0.1, 0.9};
    }
}

inline void check_bounds(const Bounds& bounds) {
    if (std::isnan(bounds.low) || std::isnan(bounds.high)) {
        reject("--min and --max are numbers, like 0 and 100, but one is not.");
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (bounds.low == infinity || bounds.high == -infinity) {
        reject(std::string(bounds.low == infinity ? "--min" : "--max") +
               " is infinite, which leaves no room for values; give a number, like 0 or 100, or leave it out.");
    }
    if (!(bounds.low < bounds.high)) {
        reject("--min must be below --max, but they are " + short_number(bounds.low, 6) + " and " +
               short_number(bounds.high, 6) + ".");
    }
}

}  // namespace detail

/// Checks what options mean together and fills in the defaults that depend on others. Throws `Error(invalid_argument)`.
inline void check_options(Options& options) {
    check_intake(options.intake);
    detail::check_at_least(options.context, 0, "--context");
    detail::check_at_least(options.horizon, 1, "--horizon");
    detail::check_at_least(options.samples, 0, "--samples");
    detail::check_threads(options.threads);
    detail::check_at_least(options.season, 0, "--season");
    if (options.season > 0 && !options.holdout) {
        detail::reject("--season belongs to the baseline of --holdout; ask for that, or leave --season out.");
    }
    detail::check_bounds(options.bounds);
    detail::check_columns(options);
    detail::check_quantiles(options);
    detail::check_files({{"--output", options.output, true},
                         {"--svg", options.svg},
                         {"--dot", options.dot},
                         {"--explain-html", options.explain_html}},
                        {{"input", options.input}});
    // A forecast may take the place of the one that it scores: a picture may not.
    detail::check_files({{"--svg", options.svg}, {"--dot", options.dot}, {"--explain-html", options.explain_html}},
                        {{"--score-last", options.score_last}});
    if (options.chart && options.no_chart) {
        detail::reject("--chart and --no-chart contradict each other; leave one out.");
    }
    const char* printed = options.chart                 ? "--chart"
                          : options.table               ? "--table"
                          : options.explain             ? "--explain"
                          : !options.score_last.empty() ? "--score-last"
                                                        : nullptr;
    if (options.output_is_stdout() && printed != nullptr) {
        detail::reject(std::string(printed) +
                       " would mix with the CSV that --output - prints; give --output the name of a file.");
    }
}

/// What the options mean for a model that forecasts quantiles at `model_levels` (empty: it draws futures), and is
/// called `model`. Throws `Error(invalid_argument)` for what it cannot give.
inline void resolve_for(Options& options, std::string_view model, std::span<const double> model_levels) {
    if (model_levels.empty()) {
        return;
    }
    check_sampling(options.sampling, model, model_levels);
    options.samples = 0;
    for (const double level : options.quantiles) {
        if (!has_quantile(model_levels, level)) {
            detail::reject(std::string(model) + " forecasts quantiles " + levels_words(model_levels) +
                           ", but --quantiles asks for " + short_number(level, 6) + "; ask for some between these.");
        }
    }
}

}  // namespace examples
