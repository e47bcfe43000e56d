// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <istream>
#include <limits>
#include <string>
#include <string_view>

// Processors that a process gets: fewer than the machine has in most containers, and where it was pinned.
namespace totograph {

namespace detail {

inline constexpr double no_processor_limit = std::numeric_limits<double>::infinity();

/// A quota of processor time over its period; not limited where there is none, or the file says something else.
inline double quota_over_period(double quota, double period) {
    return quota > 0 && period > 0 ? quota / period : no_processor_limit;
}

/// The quota of one control group, as its folder tells it: `cpu.max` (version 2) has both numbers or the word `max`,
/// version 1 a file for each.
double quota_of_group(const std::string& folder);

/// What comes before the next `end` of a text, which is cut behind it.
std::string_view cut_until(std::string_view& text, char end);

/// The least quota of a process's control groups and of all that they are in. `groups` is `/proc/self/cgroup`, lines of
/// `number:controllers:path`; `mounted` is where control groups are mounted. In a container the path may be that of the
/// host, of which only the root is there: what is missing does not limit.
double quota_of_groups(std::istream& groups, const std::string& mounted);

}  // namespace detail

/// Processors that this process may use, as it is at the call: those that its main thread may run on, and no more than
/// the quotas of its control groups, which need not be whole numbers.
double usable_processors();

/// How many threads find a processor each, out of so many: at least one.
inline int threads_for_processors(double usable) {
    return std::max(1, static_cast<int>(usable));
}

/// How many threads something takes that may take all: as many as find a processor each. What was so at the first call
/// holds for the life of the process.
inline int default_threads() {
    static const int threads = threads_for_processors(usable_processors());
    return threads;
}

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/core/impl/processors.hpp>
#endif
