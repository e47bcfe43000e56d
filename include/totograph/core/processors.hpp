// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

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
inline double quota_of_group(const std::string& folder) {
    double quota = 0;
    double period = 0;
    if (std::ifstream both(folder + "/cpu.max"); both >> quota >> period) {
        return quota_over_period(quota, period);
    }
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
    std::ifstream period_file(folder + "/cpu.cfs_period_us");
    return quota_file >> quota && period_file >> period ? quota_over_period(quota, period) : no_processor_limit;
}

/// What comes before the next `end` of a text, which is cut behind it.
inline std::string_view cut_until(std::string_view& text, char end) {
    const std::size_t found = std::min(text.find(end), text.size());
    const std::string_view before = text.substr(0, found);
    text.remove_prefix(std::min(found + 1, text.size()));
    return before;
}

/// The least quota of a process's control groups and of all that they are in. `groups` is `/proc/self/cgroup`, lines of
/// `number:controllers:path`; `mounted` is where control groups are mounted. In a container the path may be that of the
/// host, of which only the root is there: what is missing does not limit.
inline double quota_of_groups(std::istream& groups, const std::string& mounted) {
    double least = quota_of_group(mounted);
    for (std::string line; std::getline(groups, line);) {
        std::string_view path = line;
        cut_until(path, ':');  // the number
        const std::string controllers(cut_until(path, ':'));
        std::string folder = mounted + "/";
        if (!controllers.empty()) {  // version 1
            if (("," + controllers + ",").find(",cpu,") == std::string::npos) {
                continue;
            }
            std::error_code unknown;
            folder += std::filesystem::is_directory(folder + controllers, unknown) ? controllers : "cpu";
        }
        least = std::min(least, quota_of_group(folder));
        while (!path.empty()) {
            const std::string_view part = cut_until(path, '/');
            if (part == "..") {
                break;  // of a process outside of what this one sees
            }
            if (!part.empty()) {
                folder.append("/").append(part);
                least = std::min(least, quota_of_group(folder));
            }
        }
    }
    return least;
}

}  // namespace detail

/// Processors that this process may use, as it is at the call: those that its main thread may run on, and no more than
/// the quotas of its control groups, which need not be whole numbers.
inline double usable_processors() {
    auto count = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
#if defined(__linux__)
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(::getpid(), sizeof allowed, &allowed) == 0) {
        count = std::min(count, static_cast<double>(CPU_COUNT(&allowed)));
    }
    std::ifstream groups("/proc/self/cgroup");
    count = std::min(count, detail::quota_of_groups(groups, "/sys/fs/cgroup"));
#endif
    return count;
}

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
