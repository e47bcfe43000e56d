// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <totograph/io/text.hpp>

#include "../common/checks.hpp"
#include "../intake/options.hpp"

namespace examples {

/// Whether forecasts go on from what the model has computed of the context, in place of reading it whole.
enum class GoOn : std::uint8_t { where_possible, always, never };

/// What the command line asks for.
struct Options {
    std::vector<std::string> columns;
    IntakeOptions intake;
    std::int64_t variates = 0;  ///< 0: the first line is a header
    bool independent = false;

    std::int64_t context = 512;
    std::int64_t horizon = 0;  ///< 0: one patch
    bool extend = false;       ///< Go on where the model's horizon ends.
    std::int64_t every = 0;    ///< 0: one patch
    std::int64_t samples = 128;
    std::uint64_t seed = 0;
    std::string sampling;  ///< The option about drawn futures that was given; empty: none.
    std::filesystem::path checkpoint;
    std::filesystem::path package;  ///< Empty: what the program has compiled in.
    int threads = 0;                ///< 0: one a core
    GoOn session = GoOn::where_possible;

    double alarm = 3;
    bool scores_only = false;
    bool quiet = false;
};

namespace detail {

inline GoOn session_of(const std::string& word) {
    if (word != "on" && word != "off") {
        reject("--session is on or off, and not " + totograph::io::in_quotes(word) + ".");
    }
    return word == "on" ? GoOn::always : GoOn::never;
}

inline void check_stream(const Options& options) {
    check_at_least(options.variates, 0, "--variates");
    check_at_least(options.context, 32, "--context");
    check_at_least(options.horizon, 0, "--horizon");
    check_at_least(options.every, 0, "--every");
    check_at_least(options.samples, 20, "--samples");
    check_threads(options.threads);
    check_intake(options.intake);
    if (!options.intake.series.empty() || !options.intake.value.empty()) {
        reject(
            "A stream takes no rows of one value each (--series, --value): which series there are, and that a time has "
            "all its values, is known only in the end. Write the values of one time in one line first, or let forecast "
            "or backtest read the rows.");
    }
    if (!(options.alarm > 0)) {
        reject("--alarm is a score, which is more than 0 (3 is three times as far out as the 90% band).");
    }
    if (options.variates > 0 && (!options.columns.empty() || !options.intake.timestamp.empty())) {
        reject("--variates says that there is no header, so no column has a name for --columns or --timestamp.");
    }
    std::vector<std::string> names = options.columns;
    std::sort(names.begin(), names.end());
    if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
        reject("--columns names " + totograph::io::in_quotes(*twice) + " twice; name it once.");
    }
}

}  // namespace detail

}  // namespace examples
