// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include <totograph/version.hpp>

#include "../common/command_line_parts.hpp"
#include "../intake/command_line.hpp"
#include "options.hpp"

namespace examples {

namespace detail {

inline constexpr const char* stream_footer = R"(
Lines come on standard input, one observation of all variates each, as CSV: a header first, or --variates. Titles,
separator, clock, columns of text and numbers are found out as for files, by the first ten lines, which are held back
(up to twenty where ten do not tell); blank fields are gaps. Input may be packed by gzip, or be in UTF-16 with its mark.
A date, a time or an epoch time orders the lines: late and repeated ones are dropped, and steps that were skipped become
gaps; one far ahead waits for the next, which tells a pause from a wrong time. Lines that cannot be read are counted and
left out, blank ones are passed over (in a single column without a clock they are gaps, but at the end); a summary comes
at the end.

Rows go to standard output, as CSV:
  observed   a value that came, the 5%, 50% and 95% quantiles of what was forecast for it, its position among the
             sampled futures (0: below all, 1: above all), its score (distance from the median; 1 is the edge of the
             90% band on that side), and whether that is an alarm
             (Toto 2.0 tells quantiles from 10% to 90%: lines through the outer two of them lead beyond)
  forecast   the quantiles of a step to come

With Toto 2.0 a forecast goes on from what was computed of the context before it (--session): new lines then cost their
own work alone. It is, to rounding, that of reading the same context whole. Whole patches (32 lines) can be added to a
context; so where --every is no multiple of 32, one context is kept for each place within a patch at which forecasts are
made, up to 512 MiB; all other forecasts read the whole context. A full context, of as many whole patches as --context
has room for, keeps three quarters of these, rounded down to whole patches, and reads them again: forecasts read between
so many and all of them. A forecast also reads the whole context when a variate comes that was blank before, after a
pause, and as long as a variate has few observations. The summary counts each of these. --session off: always the newest
--context observations, read whole each time.

Examples:
  vmstat -n 1 | awk '...' | stream --variates 4 --every 1
  tail -n +1 -f metrics.csv | stream --columns cpu,memory --scores-only | grep ',1$'

Exit codes:
  0  all lines were read, or the program was interrupted
  1  anything not named below
  2  the command line is wrong
  3  the input has no usable header, or too few lines for a forecast
  4  the checkpoint cannot be read or does not fit the model
  5  more is asked for than the model takes
  6  standard output cannot be written
  8  the model gave values that are no finite numbers
)";

}  // namespace detail

/// Reads the command line. Nothing comes back when all is said already (`--help`, `--version`, printed to `out`).
/// Throws `Error(invalid_argument)` with one sentence for a command line that cannot be used.
inline std::optional<Options> parse_command_line(int argument_count, const char* const* arguments, std::ostream& out) {
    CLI::App app("Forecasts observations as they arrive, and tells how far each lies from what was expected.",
                 "stream");
    app.footer(detail::stream_footer);
    app.get_formatter()->column_width(30);
    Options options;
    const auto number = [&](const std::string& name, auto& value, const std::string& words) {
        using Number = std::remove_reference_t<decltype(value)>;
        app.add_option(name, value, words)->type_name("N")->check(detail::whole_number<Number>());
    };
    app.set_version_flag("--version", "stream " + std::string(totograph::version), "Print the version and stop");
    detail::add_list(app, "--columns", options.columns, detail::split_list, "Variates to use (default: all)")
        ->type_name("A,B,...");
    add_intake_options(app, options.intake);
    // Not to be had; who asks for it is told what to do.
    detail::add_list(app, "--series", options.intake.series, detail::split_list, "")->group("");
    app.add_option("--value", options.intake.value)->group("");
    number("--variates", options.variates, "There is no header; lines hold N values, or a timestamp and N values");
    app.add_flag("--independent", options.independent, "Forecast each variate by itself, blind to the others");
    number("--context", options.context, "Observations that are kept and forecast from (default: 512)");
    number("--every", options.every, "Forecast again after N lines (default: one patch; 1: each line)");
    number("--horizon", options.horizon, "Steps to forecast (default: one patch)");
    app.add_flag("--extend", options.extend, "Go on from the medians where the model's horizon ends");
    number("--samples", options.samples, "Futures to draw (default: 128)");
    number("--seed", options.seed, "Seed of the random numbers (default: 0)");
    app.add_option("--checkpoint", options.checkpoint,
                   "Toto 1.0 or 2.0: a folder, a file, or the model's folder in\na Hugging Face cache\n(default: "
                   "the small model that comes with totograph)")
        ->type_name("PATH");
    app.add_option(
           "--package", options.package,
           "A package to forecast with, or a folder of some, in place\nof the models that the program has compiled in")
        ->type_name("PATH");
    std::string session;
    app.add_option("--session", session,
                   "Whether forecasts go on from what was computed of the\ncontext before (default: on where that is "
                   "possible)")
        ->type_name("on|off");
    number("--threads", options.threads, "Threads to compute with (default: one a core)");
    app.add_option("--alarm", options.alarm, "Score from which a value is an alarm (default: 3)")->type_name("SCORE");
    app.add_flag("--scores-only", options.scores_only, "Print no forecasts of steps to come");
    app.add_flag("--quiet", options.quiet, "No notes and no summary");
    if (!detail::parse(app, "stream", argument_count, arguments, out)) {
        return std::nullopt;
    }
    options.sampling = detail::given_sampling(app);
    if (app.count("--session") > 0) {
        options.session = detail::session_of(session);
    }
    detail::check_stream(options);
    return options;
}

}  // namespace examples
