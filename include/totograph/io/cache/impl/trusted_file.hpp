// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/cache/trusted_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <totograph/core/inline.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::string writers_beside_owner(const struct stat& status) {
    if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0) {
        return {};
    }
    const auto with_mode = [&](const std::string& who, const std::string& right) {
        std::array<char, 16> mode{};
        std::snprintf(mode.data(), mode.size(), "%03o", static_cast<unsigned>(status.st_mode) & 07777U);
        return who + " may write to it (" + right + ", mode " + mode.data() + ")";
    };
    if ((status.st_mode & S_IWOTH) != 0) {
        return with_mode("everybody", "o+w");
    }
    if ((status.st_mode & S_IWGRP) != 0) {
        return with_mode("group " + std::to_string(status.st_gid), "g+w");
    }
    return {};
}

TOTOGRAPH_INLINE std::string reason_to_distrust(const struct stat& status, ::uid_t user) {
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return "it is not a regular file";
    }
    if (status.st_uid != user && status.st_uid != 0) {
        return "it belongs to user " + std::to_string(status.st_uid) + ", and this process runs as user " +
               std::to_string(user);
    }
    return writers_beside_owner(status);
}

TOTOGRAPH_INLINE std::string reason_to_distrust_folder(const std::string& folder) {
    struct stat status {};
    if (::stat(folder.empty() ? "." : folder.c_str(), &status) != 0) {
        return errno == ENOENT ? "" : "it cannot be examined: " + system_reason(errno);
    }
    return S_ISDIR(status.st_mode) ? reason_to_distrust(status, ::geteuid()) : "it is not a folder";
}

TOTOGRAPH_INLINE std::string distrusted_folder(const std::string& folder) {
    const std::string reason = reason_to_distrust_folder(folder);
    return reason.empty() ? ""
                          : "The folder " + in_quotes(folder, longest_quote) + " is not used: " + reason +
                                ". Take that right from all but its owner (chmod go-w), or name another one.";
}

TOTOGRAPH_INLINE std::error_code make_own_folders(const std::string& folder) {
    std::filesystem::path part;
    std::error_code failed;
    for (const std::filesystem::path& step : std::filesystem::path(folder)) {
        part /= step;
        std::error_code ignored;
        if (!std::filesystem::is_directory(part, ignored) && ::mkdir(part.c_str(), 0755) != 0) {
            // Another process may have been faster; what is no folder fails at the next step, or below.
            failed = errno == EEXIST ? std::error_code() : std::error_code(errno, std::generic_category());
            if (failed) {
                return failed;
            }
        }
    }
    return std::filesystem::is_directory(folder, failed) || failed ? failed
                                                                   : std::make_error_code(std::errc::not_a_directory);
}

TOTOGRAPH_INLINE TrustedFile open_trusted(const std::string& path) {
    TrustedFile result;
    // Without O_NONBLOCK, opening a named pipe would wait for a writer for ever.
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    const int reason = errno;
    result.exists = static_cast<bool>(file) || reason != ENOENT;
    if (!file) {
        result.wrong = !result.exists    ? ""
                       : reason == ELOOP ? "it is a symbolic link, which is not followed"
                                         : "it cannot be opened: " + system_reason(reason);
    } else if (::fstat(file.get(), &result.status) != 0) {
        result.wrong = "it cannot be examined: " + system_reason(errno);
    } else if (!S_ISREG(result.status.st_mode)) {
        result.wrong = "it is not a regular file";
    } else {
        result.wrong = reason_to_distrust(result.status, ::geteuid());
        if (const std::string folder = reason_to_distrust_folder(std::filesystem::path(path).parent_path());
            result.wrong.empty() && !folder.empty()) {
            result.wrong = "of its folder: " + folder;
        }
    }
    if (result.wrong.empty()) {
        result.file = std::move(file);
    }
    return result;
}

}  // namespace totograph::io
