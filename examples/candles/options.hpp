// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../common/check_files.hpp"
#include "../common/checks.hpp"
#include "../common/draw_options.hpp"
#include "../intake/options.hpp"

namespace examples {

/// What the command line of `candles` says.
struct CandlesCommand {
    std::filesystem::path input;
    std::filesystem::path tokenizer;
    std::filesystem::path predictor;
    std::string untrained;  ///< The model whose untrained weights are used in place of a checkpoint.
    IntakeOptions intake;
    std::vector<std::string> symbols;  ///< Empty: all that there are.
    std::string symbol_column;         ///< Empty: one of a usual name, if there is one.
    std::int64_t backtest = 0;         ///< Windows to score; 0: a forecast.
    std::int64_t context = 0;          ///< 0: as many as the model takes.
    std::int64_t horizon = 24;
    std::int64_t paths = 20;
    DrawOptions draw;
    bool consistent = false;
    bool holdout = false;
    bool no_chart = false;
    bool quiet = false;
    int threads = 0;
    std::vector<double> quantiles;
    std::filesystem::path output;
    std::filesystem::path paths_output;
    std::filesystem::path svg;
};

/// Refuses what cannot be. Throws `Error(invalid_argument)`.
inline void check_options(CandlesCommand& options) {
    using namespace detail;
    check_intake(options.intake);
    if (!options.intake.series.empty() || !options.intake.value.empty()) {
        reject(
            "candles reads a column for each number of a candle; leave --series and --value out, and name the column "
            "of symbols with --symbol-column.");
    }
    const bool has_checkpoint = !options.tokenizer.empty() && !options.predictor.empty();
    const bool has_part = !options.tokenizer.empty() || !options.predictor.empty();
    if (!options.untrained.empty() && has_part) {
        reject(no_checkpoint_beside_untrained);
    }
    if (options.untrained.empty() && !has_checkpoint) {
        reject(
            "A model is two folders, --tokenizer and --predictor; give both, or try the program with --untrained "
            "mini.");
    }
    check_at_least(options.horizon, 1, "--horizon");
    check_at_least(options.paths, 1, "--paths");
    check_threads(options.threads);
    check_at_least(options.context, 0, "--context");
    check_at_least(options.backtest, 0, "--backtest");
    check_at_most(options.backtest, 1'000'000'000'000, "--backtest");  // times the horizon it shall be a number
    if (options.backtest > 0 &&
        (options.holdout || !options.svg.empty() || !options.output.empty() || !options.paths_output.empty())) {
        reject("--backtest prints scores alone; leave --holdout, --svg, --output and --all-paths out.");
    }
    check_files({{"--output", options.output, true}, {"--all-paths", options.paths_output}, {"--svg", options.svg}},
                {{"input", options.input}, {"tokenizer", options.tokenizer}, {"predictor", options.predictor}});
    check_draws(options.draw, 1 << 20, "for the likeliest path take --top-k 1");
    if (options.quantiles.empty()) {
        options.quantiles = {0.1, 0.9};
    }
    for (const double level : options.quantiles) {
        if (!(level >= 0 && level <= 1)) {
            reject("--quantiles are between 0 and 1.");
        }
    }
    std::sort(options.quantiles.begin(), options.quantiles.end());
    options.quantiles.erase(std::unique(options.quantiles.begin(), options.quantiles.end()), options.quantiles.end());
}

}  // namespace examples
