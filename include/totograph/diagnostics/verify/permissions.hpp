// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve::detail {

/// Whether others than its owner may write to what stands at a path, links followed, as a sentence without its stop;
/// empty when nobody may.
inline std::string open_to_others(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.empty() ? "." : path.c_str(), &status) != 0) {
        return {};  // who opens it will tell
    }
    const std::string writers = io::writers_beside_owner(status);
    return writers.empty() ? writers : io::in_quotes(path.string(), io::longest_quote) + ": " + writers;
}

/// The first of a checkpoint's files, and of the folders that they and what they link to are in, that others than its
/// owner may write to, and so could change every forecast; empty when there is none.
inline std::string open_to_others(const io::CheckpointFiles& files) {
    std::vector<std::filesystem::path> all = files.weights;
    all.push_back(files.index);
    all.push_back(files.config);
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
