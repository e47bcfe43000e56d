// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/verify/environment.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE Environment totograph_environment() {
    Environment variables;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const std::string_view text = *each;
        const std::size_t equals = text.find('=');
        if (text.starts_with("TOTOGRAPH_") && equals != std::string_view::npos) {
            variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    std::sort(variables.begin(), variables.end());
    return variables;
}

namespace detail {

TOTOGRAPH_INLINE Check check_variable(const std::string& variable, const std::string& value) {
    Check check{io::printable(variable, 80), CheckResult::ok, io::in_quotes(value, 200)};
    const auto warn = [&](CheckResult result, std::string remedy) {
        check.result = result;
        check.remedy = std::move(remedy);
    };
    if (variable == "TOTOGRAPH_MODE") {
        try {
            check.found +=
                value.empty() ? "" : ": every service runs in mode " + std::string(name(mode_of(value, variable)));
        } catch (const Error& error) {
            warn(CheckResult::failed, std::string(error.what()) + " Making a service throws this.");
        }
    } else if (variable == "TOTOGRAPH_DISABLE") {
        if (!value.empty() && value != "0") {
            warn(CheckResult::warning, "Everything runs in mode eager, many times slower. Unset it to serve.");
        }
    } else if (variable == "TOTOGRAPH_LOGS") {
        const totograph::detail::LogList list = totograph::detail::read_log_list(value, "TOTOGRAPH_LOGS");
        if (!list.unknown.empty()) {
            warn(CheckResult::warning, list.unknown);
        } else if ((list.topics & totograph::detail::bit_of(LogTopic::sizes)) != 0) {
            warn(CheckResult::warning, "The topic sizes writes a line for each request. Leave it out to serve.");
        }
    } else if (variable == "TOTOGRAPH_CACHE_DIR") {
        return check;  // what it names is looked at by itself
    } else {
        constexpr std::array others{"TOTOGRAPH_BACKEND",      "TOTOGRAPH_PRECISION",       "TOTOGRAPH_NVTX",
                                    "TOTOGRAPH_PACKAGE_PATH", "TOTOGRAPH_PROCESSOR_LEVEL", "TOTOGRAPH_DEMO_MODEL",
                                    "TOTOGRAPH_SKIP_INSTALL"};
        if (std::find(others.begin(), others.end(), variable) == others.end()) {
            warn(CheckResult::warning,
                 "No part of totograph reads this variable; it may be misspelled. There are TOTOGRAPH_MODE, "
                 "TOTOGRAPH_DISABLE, TOTOGRAPH_BACKEND, TOTOGRAPH_PRECISION, TOTOGRAPH_LOGS, TOTOGRAPH_CACHE_DIR, "
                 "TOTOGRAPH_NVTX, for packages TOTOGRAPH_PACKAGE_PATH, and, for the bundled programs, "
                 "TOTOGRAPH_DEMO_MODEL, TOTOGRAPH_PROCESSOR_LEVEL and TOTOGRAPH_SKIP_INSTALL.");
        }
    }
    return check;
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<Check> check_environment(const Environment& variables) {
    std::vector<Check> checks;
    for (const auto& [variable, value] : variables) {
        checks.push_back(detail::check_variable(variable, value));
    }
    if (checks.empty()) {
        checks.push_back({"environment", CheckResult::ok, "no TOTOGRAPH_ variable is set"});
    }
    return checks;
}

}  // namespace totograph::serve
