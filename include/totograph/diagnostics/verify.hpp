// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/diagnostics/verify/environment.hpp>
#include <totograph/diagnostics/verify/machine.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// What is to be looked at.
struct VerifyOptions {
    BuildIdentity build;  ///< `build_identity()` of the file that the models are compiled in.
    /// That is to serve; empty: the first that can be used. `TOTOGRAPH_BACKEND` and `TOTOGRAPH_PRECISION` of
    /// `environment` go before it, as in a service.
    std::string backend{};
    Mode mode = Mode::max_autotune;
    BackendResources resources{};
    std::filesystem::path checkpoint{};  ///< Empty: not looked at.
    /// Opens the checkpoint; throws `Error`, or says in a few words what it is.
    std::function<std::string(const std::filesystem::path&)> open_checkpoint{};
    io::CacheFolder caches = io::cache_folder();
    Environment environment = totograph_environment();
    /// Bytes that the buckets of a backend may take; nothing: not known. Backends of devices need an answer of their
    /// own.
    std::function<std::optional<std::size_t>(const Backend&)> memory = [](const Backend&) {
        return available_memory();
    };
    /// Further checks of the caller's, such as of a device and its driver.
    std::vector<std::function<std::vector<Check>()>> further{};
};

/// The name of the backend that is to serve, by `environment` and `backend`, so that checks of the caller's look at the
/// same one; empty where nothing is asked for, and the first that can be used serves. Of a precision that the
/// environment names, it is the first of the registry that can be used, or else the first; where none has it,
/// `backend`. Throws nothing for one that is not there: `verify` tells that.
std::string backend_to_serve(const BackendRegistry& registry, const VerifyOptions& options);

/// Says line by line whether a build, a machine, a checkpoint, the folder for caches and the environment are fit to
/// serve with a registry's backends, and what to do where they are not. Throws nothing for what it finds.
VerifyReport verify(const BackendRegistry& registry, const VerifyOptions& options);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/impl/verify.hpp>
#endif
