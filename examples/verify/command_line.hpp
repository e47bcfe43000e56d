// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <ostream>
#include <string>

#include <totograph/version.hpp>

#include "../common/check_files.hpp"
#include "../common/command_line_parts.hpp"
#include "options.hpp"

namespace examples {

namespace detail {

inline constexpr const char* verify_footer = R"(
A line says what was looked at, how it came out (ok, warning or failed) and what was found; where it is not ok, the line
below says what to do. Nothing is forecast: `stress` does that.

Exit codes:
  0  fit to serve, perhaps with warnings
  1  anything not named below
  2  the command line is wrong
  6  an output cannot be written
  7  not fit to serve
)";

}  // namespace detail

/// Reads the command line. Nothing comes back when all is said already (`--help`, `--version`, printed to `out`).
/// Throws `Error(invalid_argument)` with one sentence for a command line that cannot be used.
inline std::optional<Options> parse_command_line(int argument_count, const char* const* arguments, std::ostream& out) {
    CLI::App app(
        "Says line by line whether this build, machine, checkpoint, cache folder and environment are fit to serve.",
        "verify");
    app.footer(detail::verify_footer);
    app.get_formatter()->column_width(30);
    Options options;
    std::string mode(name(options.mode));
    app.set_version_flag("--version", "verify " + std::string(totograph::version), "Print the version and stop");
    app.add_option("--backend", options.backend,
                   "The backend that is to serve, unless TOTOGRAPH_BACKEND or\nTOTOGRAPH_PRECISION choose one "
                   "(default: the first that\ncan)")
        ->type_name("NAME");
    app.add_option("--execution-mode", mode, "The mode that is to serve (default: max-autotune)")->type_name("NAME");
    app.add_option("--checkpoint", options.checkpoint,
                   "Toto 1.0 or 2.0: a folder, a file, or the model's folder in\na Hugging Face cache\n(default: "
                   "the small model that comes with totograph)")
        ->type_name("PATH");
    app.add_option(
           "--package", options.package,
           "A package to forecast with, or a folder of some, in place\nof the models that the program has compiled in")
        ->type_name("PATH");
    app.add_option("--threads", options.threads, "Threads that a forecast is to use (default: all)")
        ->type_name("N")
        ->check(detail::whole_number<int>());
    app.add_option("--json", options.json, "Write the report as JSON")->type_name("FILE.json");
    if (!detail::parse(app, "verify", argument_count, arguments, out)) {
        return std::nullopt;
    }
    options.mode = totograph::serve::mode_of(mode, "--execution-mode");
    detail::check_threads(options.threads);
    detail::check_files({{"--json", options.json}}, {});
    return options;
}

}  // namespace examples
