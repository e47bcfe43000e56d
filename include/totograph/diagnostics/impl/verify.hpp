// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/verify.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/processors.hpp>
#include <totograph/diagnostics/verify/backends.hpp>
#include <totograph/diagnostics/verify/caches.hpp>
#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/diagnostics/verify/environment.hpp>
#include <totograph/diagnostics/verify/machine.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/routing.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE VerifyReport verify(const BackendRegistry& registry, const VerifyOptions& options) {
    VerifyReport report;
    const auto add = [&](std::vector<Check> checks) {
        for (Check& check : checks) {
            report.checks.push_back(std::move(check));
        }
    };
    add(check_build(options.build, processor_vectors()));
    add({check_threads(options.resources.threads, default_threads(), usable_processors())});
    add({check_clock([] { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); })});
    add(check_environment(options.environment));
    if (!options.checkpoint.empty()) {
        add({check_checkpoint(options.checkpoint, options.open_checkpoint)});
    }
    try {
        const auto variable = [&](std::string_view name) -> const char* {
            const auto found = std::find_if(options.environment.begin(), options.environment.end(),
                                            [&](const auto& each) { return each.first == name; });
            return found == options.environment.end() ? nullptr : found->second.c_str();
        };
        const auto text = [&](std::string_view name) {
            const char* const found = variable(name);
            return std::string(found == nullptr ? "" : found);
        };
        const Mode mode = choose_mode(options.mode, variable("TOTOGRAPH_DISABLE"), variable("TOTOGRAPH_MODE"));
        const Check* const checkpoint = report.find("checkpoint");
        const bool is_missing =
            registry.all().empty() && checkpoint != nullptr && checkpoint->result == CheckResult::failed;
        const detail::BackendOfEnvironment forced{text("TOTOGRAPH_BACKEND"), text("TOTOGRAPH_PRECISION")};
        std::string wanted = options.backend;
        if (forced.decides() && !is_missing) {  // as in a service
            wanted = detail::pick_backend(registry, forced.name, options.resources, forced.precision)->name();
        }
        if (!is_missing) {  // there are no backends without a checkpoint, and one remedy for both
            add(check_backends(registry, wanted, mode, options.resources));
        }
        const auto chosen = std::find_if(registry.all().begin(), registry.all().end(), [&](const auto& backend) {
            return (wanted.empty() || backend->name() == wanted) && backend->unavailable(options.resources).empty();
        });
        if (chosen != registry.all().end() && !(*chosen)->describe(mode).empty()) {
            add({check_memory(memory_of_buckets(**chosen, mode), options.memory(**chosen))});
        }
    } catch (const std::exception& error) {
        add({{"backend", CheckResult::failed, error.what(),
              "Correct the mode, or the backend: making a service throws this."}});
    }
    add(check_cache_folder(options.caches));
    for (const auto& each : options.further) {
        try {
            add(each());
        } catch (const std::exception& error) {
            add({{"further checks", CheckResult::failed, error.what(), "Remedy what it tells."}});
        }
    }
    return report;
}

}  // namespace totograph::serve
