// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace totograph {

/// What became of the prepared weights that one store looked for on disk.
struct PreparedCacheReport {
    std::size_t hits = 0;     ///< Mapped from a file.
    std::size_t misses = 0;   ///< Prepared, because there was no file that could be used.
    std::size_t ignored = 0;  ///< Of the misses: there was a file.
    std::string folder;       ///< Where the files are; empty when there is none.
    std::string reason;       ///< Why the last file was ignored, or why there is no folder; else empty.
    std::string not_written;  ///< Why weights were not kept for others; empty when they were, or there were none.

    /// Adds what became of further weights.
    void add(const PreparedCacheReport& further);
};

/// The report in a line.
std::string to_string(const PreparedCacheReport& report);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/prepared_cache_report.hpp>
#endif
