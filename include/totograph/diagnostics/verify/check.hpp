// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
    [[nodiscard]] CheckResult result() const;
    /// Whether nothing failed.
    [[nodiscard]] bool is_fit() const { return result() != CheckResult::failed; }

    /// The first check of this name that came out worst; null when there is none of the name.
    [[nodiscard]] const Check* find(std::string_view what) const;
};

/// The report, a line a check and below it the remedy of one that is not ok.
std::string to_string(const VerifyReport& report);

/// The report as a JSON object: `result`, and `checks`, a list of objects with `what`, `result`, `found`, `remedy`.
std::string json_text(const VerifyReport& report);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/verify/impl/check.hpp>
#endif
