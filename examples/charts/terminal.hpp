// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <totograph/io/time/clock.hpp>

#include "terminal_chart.hpp"

namespace examples {

/// What the terminal behind a file descriptor can show: its width (else that of COLUMNS, else 80), and its colours,
/// none if it is no terminal, a dumb one, or the user set NO_COLOR.
inline TerminalStyle terminal_style(int descriptor) {
    const auto setting = [](const char* name) -> std::string {
        const char* value = std::getenv(name);
        return value == nullptr ? "" : value;
    };
    TerminalStyle style;
    winsize size{};
    const bool terminal = ::isatty(descriptor) == 1;
    const auto columns = totograph::io::parse_whole_number(setting("COLUMNS"));
    if (terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        style.width = size.ws_col;
    } else if (columns && *columns > 0) {
        style.width = static_cast<std::size_t>(*columns);
    }
    const std::string name = setting("TERM");
    if (terminal && setting("NO_COLOR").empty() && name != "dumb") {
        const bool many = name.find("256") != std::string::npos || !setting("COLORTERM").empty();
        style.colours = many ? Colours::many : Colours::sixteen;
    }
    return style;
}

}  // namespace examples
