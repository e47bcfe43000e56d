// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/file_identity.hpp>

#include <sys/stat.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <totograph/core/inline.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE FileIdentity file_identity(const std::string& path) {
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
    identity.noted = static_cast<std::int64_t>(status.st_ctim.tv_sec) * 1'000'000'000 + status.st_ctim.tv_nsec;
    identity.inode = static_cast<std::uint64_t>(status.st_ino);
    return identity;
}

}  // namespace totograph::io
