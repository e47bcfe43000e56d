// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <totograph/io/cache_folder.hpp>
#include <totograph/serve/backend.hpp>
#include <totograph/serve/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/verify/backends.hpp>
#include <totograph/serve/verify/caches.hpp>
#include <totograph/serve/verify/check.hpp>
#include <totograph/serve/verify/environment.hpp>
#include <totograph/serve/verify/machine.hpp>

namespace totograph::serve {

/// What is to be looked at.
struct VerifyOptions {
    BuildIdentity build;    ///< `build_identity()` of the file that the models are compiled in.
    std::string backend{};  ///< That is to serve; empty: the first that can be used.
    Mode mode = Mode::max_autotune;
    BackendResources resources{};
    std::filesystem::path checkpoint{};  ///< Empty: not looked at.
    /// Opens the checkpoint; throws `Error`, or says in a few words what it is.
    std::function<std::string(const std::filesystem::path&)> open_checkpoint{};
    io::CacheFolder caches = io::cache_folder();
    Environment environment = totograph_environment();
    std::size_t memory = available_memory();  ///< Bytes that the buckets may take; 0: not known.
    /// Further checks of the caller's, such as of a device and its driver.
    std::vector<std::function<std::vector<Check>()>> further{};
};

/// Says line by line whether a build, a machine, a checkpoint, the folder for caches and the environment are fit to
/// serve with a registry's backends, and what to do where they are not. Throws nothing for what it finds.
inline VerifyReport verify(const BackendRegistry& registry, const VerifyOptions& options) {
    VerifyReport report;
    const auto add = [&](std::vector<Check> checks) {
        for (Check& check : checks) {
            report.checks.push_back(std::move(check));
        }
    };
    add(check_build(options.build, processor_vectors()));
    add({check_threads(options.resources.threads, static_cast<int>(std::thread::hardware_concurrency()),
                       usable_processors())});
    add({check_clock([] { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); })});
    add(check_environment(options.environment));
    if (!options.checkpoint.empty()) {
        add({check_checkpoint(options.checkpoint, options.open_checkpoint)});
    }
    try {
        const Mode mode = effective_mode(options.mode);
        add(check_backends(registry, options.backend, mode, options.resources));
        for (const auto& backend : registry.all()) {
            const bool is_chosen = options.backend.empty() || backend->name() == options.backend;
            if (is_chosen && backend->unavailable(options.resources).empty() && !backend->describe(mode).empty()) {
                add({check_memory(memory_of_buckets(*backend, mode), options.memory)});
                break;
            }
        }
    } catch (const std::exception& error) {
        add({{"backend", CheckResult::failed, error.what(), "Correct the mode, or the backend."}});
    }
    add(check_cache_folder(options.caches));
    for (const auto& each : options.further) {
        add(each());
    }
    return report;
}

}  // namespace totograph::serve
