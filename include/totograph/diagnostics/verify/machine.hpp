// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/serve/build_identity.hpp>

// What the machine gives to this process, and what this build makes of it.
namespace totograph::serve {

/// Whether the build suits the processor, whose widest vectors are `processor` (`processor_vectors()`).
std::vector<Check> check_build(const BuildIdentity& build, std::string_view processor);

/// Whether so many threads (0: as many as a forecast takes that is not told, `unasked`) can be had, and find
/// processors.
Check check_threads(int wanted, int unasked, double usable);

namespace detail {

/// The number after a word at the begin of a line, such as `MemAvailable: 1024 kB`; 0 when there is none.
std::size_t number_after(const std::filesystem::path& path, std::string_view word);

/// What a control group leaves of its limit, with the files that it can forget again; nothing without a limit.
std::optional<std::size_t> left_in_group(const std::filesystem::path& limit, const std::filesystem::path& usage,
                                         const std::filesystem::path& statistics, std::string_view inactive);

}  // namespace detail

/// Bytes of memory that this process may still take: of the machine, and of the control group (version 1 or 2) that it
/// sees as the root, as a container does; nothing where the system does not tell. `root` is where the system's files
/// are.
std::optional<std::size_t> available_memory(const std::filesystem::path& root = "/");

/// Whether so much memory is there.
Check check_memory(std::size_t needed, std::optional<std::size_t> available);

/// Whether a clock ascends and is fine enough to time forecasts with.
Check check_clock(const std::function<std::chrono::nanoseconds()>& now);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/verify/impl/machine.hpp>
#endif
