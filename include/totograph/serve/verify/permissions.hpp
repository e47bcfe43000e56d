// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include <totograph/io/text.hpp>
#include <totograph/io/trusted_file.hpp>

namespace totograph::serve::detail {

/// What stands at a path that others than its owner may write to, links followed, as a sentence without its stop; empty
/// when nobody may.
inline std::string open_to_others(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return {};  // who opens it will tell
    }
    const std::string writers = io::writers_beside_owner(status);
    return writers.empty() ? writers : io::in_quotes(path.string(), io::longest_quote) + ": " + writers;
}

/// The first of a checkpoint's folder and files that others than its owner may write to, and so could change every
/// forecast; empty when there is none. Hidden folders, such as of Git, are left out.
inline std::string checkpoint_open_to_others(const std::filesystem::path& checkpoint) {
    namespace fs = std::filesystem;
    constexpr int deepest = 4;  // as far as a hub's cache goes down
    constexpr std::size_t most_entries = 10'000;
    std::error_code failed;
    const bool is_folder = fs::is_directory(checkpoint, failed);
    std::string found = open_to_others(checkpoint);
    if (!is_folder) {
        const fs::path folder = checkpoint.has_parent_path() ? checkpoint.parent_path() : ".";
        return found.empty() ? open_to_others(folder) : found;
    }
    std::size_t entries = 0;
    fs::recursive_directory_iterator each(checkpoint, failed);
    for (; found.empty() && !failed && each != fs::recursive_directory_iterator() && ++entries < most_entries;
         each.increment(failed)) {
        const bool is_hidden = each->path().filename().string().starts_with(".");
        if (is_hidden || each.depth() >= deepest) {
            each.disable_recursion_pending();
        }
        found = is_hidden ? "" : open_to_others(each->path());
    }
    return found;
}

}  // namespace totograph::serve::detail
