// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/verify/check.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/serve/metrics/json_parts.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE CheckResult VerifyReport::result() const {
    CheckResult worst = CheckResult::ok;
    for (const Check& check : checks) {
        worst = std::max(worst, check.result);
    }
    return worst;
}

TOTOGRAPH_INLINE const Check* VerifyReport::find(std::string_view what) const {
    const Check* worst = nullptr;
    for (const Check& check : checks) {
        if (check.what == what && (worst == nullptr || check.result > worst->result)) {
            worst = &check;
        }
    }
    return worst;
}

TOTOGRAPH_INLINE std::string to_string(const VerifyReport& report) {
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

TOTOGRAPH_INLINE std::string json_text(const VerifyReport& report) {
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
