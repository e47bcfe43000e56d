// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "checks.hpp"

namespace examples::detail {

/// A path of a command line, and what it is called: an output by its option, an input by a word such as "input".
struct NamedPath {
    std::string name;
    std::filesystem::path path;  ///< Empty: not given. Of an input, "-" is standard input.
    bool may_print = false;      ///< Of an output: "-" is standard output.
};

/// Where a path leads, whether something is there or not.
inline std::filesystem::path place_of(const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::path full = std::filesystem::absolute(path, error);
    const std::filesystem::path place = std::filesystem::weakly_canonical(full, error);
    return error ? full.lexically_normal() : place;
}

/// Whether two paths lead to one file, also by links, also if it is not there yet.
inline bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    return std::filesystem::equivalent(a, b, ignored) || place_of(a) == place_of(b);
}

/// Refuses an output that would take the place of an input, or of a file in an input folder.
inline void check_not_input(const NamedPath& output, const NamedPath& input) {
    const std::filesystem::path given = input.path == "-" ? "/dev/stdin" : input.path;  // it may be a file
    std::error_code error;
    if (!std::filesystem::is_directory(given, error)) {
        if (is_same_file(output.path, given)) {
            reject(output.name + " is the " + input.name + " file itself, which would be lost; name another file.");
        }
        return;
    }
    for (std::filesystem::directory_iterator entry(given, error), end; !error && entry != end; entry.increment(error)) {
        if (is_same_file(output.path, entry->path())) {
            reject(output.name + " is a file of the " + input.name +
                   " folder, which would be lost; name another file.");
        }
    }
}

/// Refuses an output at "-" that cannot go to standard output: a file of that name is hardly what was meant.
inline void check_not_printed(const NamedPath& output) {
    if (output.path == "-" && !output.may_print) {
        reject(output.name + " needs a file, and cannot go to standard output; name one (./- is one called '-').");
    }
}

/// Refuses outputs that would take the place of an input, or of each other, and those at "-" that cannot be printed.
/// Throws `Error(invalid_argument)`.
inline void check_files(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs) {
    std::for_each(outputs.begin(), outputs.end(), check_not_printed);
    for (const NamedPath& output : outputs) {
        if (output.path.empty()) {
            continue;
        }
        for (const NamedPath& input : inputs) {
            if (!input.path.empty() && output.path != "-") {
                check_not_input(output, input);
            }
        }
        for (const NamedPath& other : outputs) {
            if (&output < &other && !other.path.empty() && is_same_file(output.path, other.path)) {
                reject(output.name + " and " + other.name + " are the same file; name two.");
            }
        }
    }
}

}  // namespace examples::detail
