// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/verify/backends.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/diagnostics/verify/permissions.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE std::vector<Check> check_backends(const BackendRegistry& registry, std::string_view wanted, Mode mode,
                                                   const BackendResources& resources) {
    std::vector<Check> checks;
    const Backend* chosen = nullptr;
    for (const auto& backend : registry.all()) {
        const bool is_wanted = wanted.empty() || backend->name() == wanted;
        const std::string reason = backend->unavailable(resources);
        Check check{"backend " + std::string(backend->name()), CheckResult::ok,
                    "available, " +
                        totograph::detail::count_text(backend->buckets().size(), "compiled size", "compiled sizes")};
        if (!reason.empty()) {
            check.result = is_wanted && !wanted.empty() ? CheckResult::failed : CheckResult::warning;
            check.found = reason;
            check.remedy = check.result == CheckResult::failed ? "Remedy this, or pick another backend."
                                                               : "Nothing, if it is not to serve here.";
        } else if (is_wanted && chosen == nullptr) {
            chosen = backend.get();
        }
        checks.push_back(check);
    }
    if (chosen == nullptr) {
        const std::vector<std::string> names = registry.names();
        checks.push_back({"backend", CheckResult::failed,
                          wanted.empty() ? "none can be used" : io::in_quotes(wanted, 100) + " cannot be used",
                          names.empty() ? "Add a backend that this machine can run, such as cpu."
                                        : "Use one that can be, of: " + totograph::detail::join(names, ", ") +
                                              "; or add one that this machine can run."});
        return checks;
    }
    const std::string what = chosen->describe(mode);
    checks.push_back(what.empty()
                         ? Check{"mode", CheckResult::failed,
                                 "'" + std::string(chosen->name()) + "' has no mode " + std::string(name(mode)),
                                 "Choose another mode (TOTOGRAPH_DISABLE and TOTOGRAPH_MODE go before what the program "
                                 "asks for)."}
                         : Check{"mode", mode == Mode::eager ? CheckResult::warning : CheckResult::ok,
                                 std::string(name(mode)) + " on '" + std::string(chosen->name()) + "': " + what,
                                 mode == Mode::eager ? "Mode eager is the slowest; use default or max-autotune." : ""});
    return checks;
}

TOTOGRAPH_INLINE std::size_t memory_of_buckets(const Backend& backend, Mode mode) {
    std::size_t bytes = 0;
    std::size_t weights = 0;
    for (const Bucket& bucket : backend.buckets()) {
        const Explanation explanation = backend.explain(bucket, mode);
        bytes += explanation.memory_bytes();
        weights = std::max(weights, explanation.shared_weight_bytes);
    }
    return bytes + weights;
}

TOTOGRAPH_INLINE Check check_checkpoint(const std::filesystem::path& named,
                                        const std::function<std::string(const std::filesystem::path&)>& open) {
    const std::string shown = io::in_quotes(named.string(), io::longest_quote);
    try {
        const io::CheckpointFiles files = io::find_checkpoint(named);
        const std::string about = open ? open(named) : std::string();
        if (std::string open_to_others = detail::open_to_others(files); !open_to_others.empty()) {
            return {"checkpoint", CheckResult::failed, std::move(open_to_others),
                    "Whoever may write there can change every forecast. Take that right from all but the owner: "
                    "chmod -R go-w " +
                        shown + ", and where links in it lead. A umask of 002 gives it to new files, 022 does not."};
        }
        return {"checkpoint", CheckResult::ok, shown + (about.empty() ? "" : ": " + about)};
    } catch (const Error& error) {
        return {"checkpoint", CheckResult::failed, error.what(),
                "Do as it says; or serve the checkpoint with a program that is compiled for it."};
    } catch (const std::exception& error) {
        return {"checkpoint", CheckResult::failed, shown + ": " + error.what(), "Fetch the checkpoint again."};
    }
}

}  // namespace totograph::serve
