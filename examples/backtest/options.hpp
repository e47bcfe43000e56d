// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../common/check_files.hpp"
#include "../common/checks.hpp"
#include "../intake/options.hpp"

namespace examples {

/// What the command line asks for.
struct Options {
    std::filesystem::path input;
    std::vector<std::string> columns;
    IntakeOptions intake;

    std::vector<std::int64_t> horizons;  ///< Ascending; 24 when none is given.
    bool extend = false;                 ///< Go on where the model's horizon ends.
    std::int64_t windows = 0;            ///< 0: up to 20
    std::int64_t stride = 0;             ///< 0: the largest horizon
    std::int64_t season = 0;             ///< 0: as the timestamps suggest
    std::int64_t context = 512;
    std::int64_t samples = 128;
    std::uint64_t seed = 0;
    std::string sampling;  ///< The option about drawn futures that was given; empty: none.
    bool together = false;
    std::filesystem::path checkpoint;
    std::filesystem::path package;  ///< Empty: what the program has compiled in.
    std::string backend;            ///< Empty: what TOTOGRAPH_BACKEND names, or the CPU.
    int threads = 0;                ///< 0: one a core

    std::filesystem::path journal;  ///< Empty: a name of its own in the working directory, removed at the end.
    std::filesystem::path csv;
    std::filesystem::path svg;
    bool quiet = false;
};

namespace detail {

/// More rows than any file has; twice as many can be added up.
inline constexpr std::int64_t most_rows = 1'000'000'000'000;

inline void check_backtest(Options& options) {
    if (options.horizons.empty()) {
        options.horizons = {24};
    }
    std::sort(options.horizons.begin(), options.horizons.end());
    options.horizons.erase(std::unique(options.horizons.begin(), options.horizons.end()), options.horizons.end());
    check_intake(options.intake);
    check_at_least(options.horizons.front(), 1, "--horizon");
    check_at_least(options.windows, 0, "--windows");
    check_at_least(options.stride, 0, "--stride");
    check_at_least(options.season, 0, "--season");
    check_at_most(options.horizons.back(), most_rows, "--horizon");
    check_at_most(options.season, most_rows, "--season");
    check_at_least(options.context, 1, "--context");
    check_at_least(options.samples, 2, "--samples");
    check_threads(options.threads);
    check_files({{"--csv", options.csv}, {"--svg", options.svg}, {"--journal", options.journal}},
                {{"input", options.input}});
}

}  // namespace detail

}  // namespace examples
