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

namespace detail {

/// The value of a variable; null where it is not among them.
inline const char* value_of(const Environment& environment, std::string_view name) {
    const auto found =
        std::find_if(environment.begin(), environment.end(), [&](const auto& each) { return each.first == name; });
    return found == environment.end() ? nullptr : found->second.c_str();
}

/// What these variables say of the backend that serves everything.
inline BackendOfEnvironment backend_of(const Environment& environment) {
    const auto text = [&](std::string_view name) {
        const char* const found = value_of(environment, name);
        return std::string(found == nullptr ? "" : found);
    };
    return {text("TOTOGRAPH_BACKEND"), text("TOTOGRAPH_PRECISION")};
}

}  // namespace detail

TOTOGRAPH_INLINE std::string backend_to_serve(const BackendRegistry& registry, const VerifyOptions& options) {
    const detail::BackendOfEnvironment forced = detail::backend_of(options.environment);
    if (!forced.name.empty() || forced.precision.empty()) {
        return forced.name.empty() ? options.backend : forced.name;
    }
    std::string first;
    for (const auto& backend : registry.all()) {
        if (backend->precision() == forced.precision) {
            if (backend->unavailable(options.resources).empty()) {
                return std::string(backend->name());
            }
            first = first.empty() ? std::string(backend->name()) : first;
        }
    }
    return first.empty() ? options.backend : first;
}

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
        const Mode mode = choose_mode(options.mode, detail::value_of(options.environment, "TOTOGRAPH_DISABLE"),
                                      detail::value_of(options.environment, "TOTOGRAPH_MODE"));
        const Check* const checkpoint = report.find("checkpoint");
        const bool is_missing =
            registry.all().empty() && checkpoint != nullptr && checkpoint->result == CheckResult::failed;
        const detail::BackendOfEnvironment forced = detail::backend_of(options.environment);
        std::string wanted = backend_to_serve(registry, options);
        if (forced.decides() && !is_missing) {  // as in a service, which throws for one that it cannot have
            try {
                (void)detail::pick_backend(registry, forced.name, options.resources, forced.precision);
            } catch (const Error& error) {
                add({{"backend", CheckResult::failed, error.what(),
                      "Correct the variables TOTOGRAPH_BACKEND and TOTOGRAPH_PRECISION: making a service throws "
                      "this."}});
                wanted = options.backend;  // what there is, is told all the same
            }
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
