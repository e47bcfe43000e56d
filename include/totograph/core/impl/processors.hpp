// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/processors.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#include <totograph/core/inline.hpp>

namespace totograph {
namespace detail {

TOTOGRAPH_INLINE double quota_of_group(const std::string& folder) {
    double quota = 0;
    double period = 0;
    if (std::ifstream both(folder + "/cpu.max"); both >> quota >> period) {
        return quota_over_period(quota, period);
    }
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
    std::ifstream period_file(folder + "/cpu.cfs_period_us");
    return quota_file >> quota && period_file >> period ? quota_over_period(quota, period) : no_processor_limit;
}

TOTOGRAPH_INLINE std::string_view cut_until(std::string_view& text, char end) {
    const std::size_t found = std::min(text.find(end), text.size());
    const std::string_view before = text.substr(0, found);
    text.remove_prefix(std::min(found + 1, text.size()));
    return before;
}

TOTOGRAPH_INLINE double quota_of_groups(std::istream& groups, const std::string& mounted) {
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

TOTOGRAPH_INLINE double usable_processors() {
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

}  // namespace totograph
