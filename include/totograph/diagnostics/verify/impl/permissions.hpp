// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/verify/permissions.hpp>

#include <sys/stat.h>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE std::string open_to_others(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.empty() ? "." : path.c_str(), &status) != 0) {
        return {};  // who opens it will tell
    }
    const std::string writers = io::writers_beside_owner(status);
    return writers.empty() ? writers : io::in_quotes(path.string(), io::longest_quote) + ": " + writers;
}

TOTOGRAPH_INLINE std::string open_to_others(const io::CheckpointFiles& files) {
    std::vector<std::filesystem::path> all(files.weights.begin(), files.weights.end());
    all.emplace_back(files.index);
    all.emplace_back(files.config);
    for (const std::filesystem::path& file : all) {
        if (file.empty()) {
            continue;
        }
        std::error_code failed;
        const std::filesystem::path target = std::filesystem::canonical(file, failed);
        for (const std::filesystem::path& each :
             {file, file.parent_path(), failed ? file.parent_path() : target.parent_path()}) {
            if (std::string found = open_to_others(each); !found.empty()) {
                return found;
            }
        }
    }
    return {};
}

}  // namespace totograph::serve::detail
