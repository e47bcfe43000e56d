// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// Which backends can be used, and whether `wanted` (empty: the first that can) has `mode`.
std::vector<Check> check_backends(const BackendRegistry& registry, std::string_view wanted, Mode mode,
                                  const BackendResources& resources);

/// Bytes that all buckets of a backend take in one mode, with weights that they share.
std::size_t memory_of_buckets(const Backend& backend, Mode mode);

/// Whether the checkpoint is there, nobody but its owner may write to it, and `open` (which throws `Error`, and returns
/// what to say of it) takes it.
Check check_checkpoint(const std::filesystem::path& named,
                       const std::function<std::string(const std::filesystem::path&)>& open);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/verify/impl/backends.hpp>
#endif
