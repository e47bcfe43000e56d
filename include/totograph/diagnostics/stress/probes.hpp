// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>

namespace totograph::serve {

/// Bytes of this process that are in memory; 0 where the system does not tell.
inline std::size_t resident_bytes() {
    std::size_t pages = 0;
    // The second number of the file; reading it allocates nothing that would be counted.
    if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%*u %zu", &pages) != 1) {
            pages = 0;
        }
        (void)std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Where measurements come from. Tests give their own.
struct StressProbes {
    /// The time, from any moment on.
    std::function<std::chrono::nanoseconds()> clock = [] {
        return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
    };
    /// Bytes that the process has in memory; 0 when that is not known.
    std::function<std::size_t()> process_memory = resident_bytes;
    /// Bytes in use on the device; empty when there is none to watch.
    std::function<std::size_t()> device_memory{};
};

}  // namespace totograph::serve
