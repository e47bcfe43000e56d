// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>

namespace totograph::io {

/// What tells a file apart from another, and from what it was before it was changed, without reading it.
///
/// The time of its content alone would not: copies and archives set it, to the same moment for all versions of a file
/// where images are to be reproducible, and numbers of files are used again. When the system last noted a change of the
/// file itself nobody can set.
struct FileIdentity {
    std::string path;  ///< With all links followed. Empty when there is no such file.
    std::int64_t bytes = 0;
    std::int64_t changed = 0;  ///< When its content last changed, or is said to have: nanoseconds since 1970.
    std::int64_t noted = 0;    ///< When its content, its name or its permissions last changed.
    std::uint64_t inode = 0;

    /// The identity in five lines.
    [[nodiscard]] std::string text() const {
        return path + "\n" + std::to_string(bytes) + " bytes\nchanged " + std::to_string(changed) + "\nnoted " +
               std::to_string(noted) + "\ninode " + std::to_string(inode) + "\n";
    }
    /// Whether the file was changed so long before `now` (seconds since 1970) that a change after it would show in its
    /// times. Some file systems count in steps of two seconds.
    [[nodiscard]] bool is_stable(std::int64_t now = static_cast<std::int64_t>(std::time(nullptr))) const {
        constexpr std::int64_t nanoseconds = 1'000'000'000;
        return std::max(changed, noted) / nanoseconds + 2 < now;
    }

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The identity that a file has now.
FileIdentity file_identity(const std::string& path);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/file_identity.hpp>
#endif
