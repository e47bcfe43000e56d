// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>

namespace totograph::io {

/// What tells a file apart from another, and from what it was before it was changed, without reading it.
struct FileIdentity {
    std::string path;  ///< With all links followed. Empty when there is no such file.
    std::int64_t bytes = 0;
    std::int64_t changed = 0;  ///< When its content last changed: nanoseconds since 1970.
    std::uint64_t inode = 0;

    /// The identity in four lines.
    [[nodiscard]] std::string text() const {
        return path + "\n" + std::to_string(bytes) + " bytes\nchanged " + std::to_string(changed) + "\ninode " +
               std::to_string(inode) + "\n";
    }
    /// Whether the file was changed so long ago that a change after this moment would show in its time. Some file
    /// systems count in steps of two seconds.
    [[nodiscard]] bool is_settled() const {
        constexpr std::int64_t nanoseconds = 1'000'000'000;
        return changed / nanoseconds + 2 < static_cast<std::int64_t>(std::time(nullptr));
    }

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The identity that a file has now.
inline FileIdentity file_identity(const std::filesystem::path& path) {
    FileIdentity identity;
    std::error_code failed;
    const std::filesystem::path resolved = std::filesystem::canonical(path, failed);
    struct stat status {};
    if (failed || ::stat(resolved.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return identity;
    }
    identity.path = resolved.string();
    identity.bytes = static_cast<std::int64_t>(status.st_size);
    identity.changed = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    identity.inode = static_cast<std::uint64_t>(status.st_ino);
    return identity;
}

}  // namespace totograph::io
