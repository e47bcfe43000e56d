// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/serve/metrics/json_parts.hpp>

namespace totograph::serve {

/// How a check came out.
enum class CheckResult : std::uint8_t {
    ok,
    warning,  ///< It serves, but slower or less safely than it could.
    failed,   ///< Not fit to serve.
};

/// The name of a result, as it is spelled in C++.
constexpr std::string_view name(CheckResult result) noexcept {
    switch (result) {
        case CheckResult::ok: return "ok";
        case CheckResult::warning: return "warning";
        case CheckResult::failed: return "failed";
    }
    return "unknown";
}

/// One line of what a doctor would say.
struct Check {
    std::string what;  ///< What was looked at.
    CheckResult result = CheckResult::ok;
    std::string found;
    std::string remedy{};  ///< What to do, when it is not ok.
};

/// All that was looked at.
struct VerifyReport {
    std::vector<Check> checks;

    /// The worst of all results.
    [[nodiscard]] CheckResult result() const {
        CheckResult worst = CheckResult::ok;
        for (const Check& check : checks) {
            worst = std::max(worst, check.result);
        }
        return worst;
    }
    /// Whether nothing failed.
    [[nodiscard]] bool is_fit() const { return result() != CheckResult::failed; }

    /// The first check of this name that came out worst; null when there is none of the name.
    [[nodiscard]] const Check* find(std::string_view what) const {
        const Check* worst = nullptr;
        for (const Check& check : checks) {
            if (check.what == what && (worst == nullptr || check.result > worst->result)) {
                worst = &check;
            }
        }
        return worst;
    }
};

/// The report, a line a check and below it the remedy of one that is not ok.
inline std::string to_string(const VerifyReport& report) {
    std::size_t width = 0;
    for (const Check& check : report.checks) {
        width = std::max(width, check.what.size());
    }
    std::string text;
    for (const Check& check : report.checks) {
        const std::string result(name(check.result));
        text += result + std::string(9 - result.size(), ' ') + check.what +
                std::string(width + 2 - check.what.size(), ' ') + check.found + "\n";
        if (!check.remedy.empty()) {
            text += std::string(width + 11, ' ') + "-> " + check.remedy + "\n";
        }
    }
    switch (report.result()) {
        case CheckResult::ok: return text + "fit to serve\n";
        case CheckResult::warning: return text + "fit to serve, with warnings\n";
        case CheckResult::failed: return text + "not fit to serve\n";
    }
    return text;
}

/// The report as a JSON object: `result`, and `checks`, a list of objects with `what`, `result`, `found`, `remedy`.
inline std::string json_text(const VerifyReport& report) {
    using detail::Json;
    return detail::document_text({{"result", std::string(name(report.result()))},
                                  {"checks", detail::json_list(report.checks, [](const Check& check) {
                                       return Json{{"what", check.what},
                                                   {"result", std::string(name(check.result))},
                                                   {"found", check.found},
                                                   {"remedy", check.remedy}};
                                   })}});
}

}  // namespace totograph::serve
