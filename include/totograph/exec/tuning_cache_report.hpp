// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace totograph {

/// What became of the choices that one cache was asked for, in this process.
struct TuningCacheReport {
    std::size_t hits = 0;     ///< Chosen without measuring, from the file.
    std::size_t misses = 0;   ///< Measured, because the file had no choice that could be used.
    std::size_t repeats = 0;  ///< Chosen before in this process.
    std::size_t refused = 0;  ///< Of the misses: the file had a choice that could not be accepted.
    std::string path;         ///< The file; empty when there is none.
    std::string ignored;      ///< Why the file was not used; empty when it was, or did not exist.
    std::string not_written;  ///< Why choices were not kept in the file; empty when they were, or there were none.
};

/// The report in a line.
std::string to_string(const TuningCacheReport& report);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/tuning_cache_report.hpp>
#endif
