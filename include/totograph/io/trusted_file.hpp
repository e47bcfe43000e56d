// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "totograph/io/file_descriptor.hpp"
#include "totograph/io/text.hpp"

// Files that a process believes, such as those of a cache, in folders that others may be able to write to.

namespace totograph::io {

/// A file opened for reading, if its content can be believed.
struct TrustedFile {
    FileDescriptor file;    ///< None unless all is well.
    struct stat status {};  ///< What `fstat` says of it.
    bool exists = false;
    bool is_shared = false;  ///< Others, whom the owner let do so, may change it while it is open.
    std::string wrong;       ///< Why it is not used, as the end of a sentence; empty when it is, or there is none.
};

/// Why somebody else than `user`, the superuser and members of `groups` could have written a file, or could change it,
/// as the end of a sentence; empty when nobody could. A folder's permissions do not matter: who may write to it can put
/// other files there, but none of another owner. Only the owner of a file can have let a group write to it, such as a
/// volume's that containers share.
inline std::string reason_to_distrust(const struct stat& status, ::uid_t user, std::span<const ::gid_t> groups) {
    if (!S_ISREG(status.st_mode)) {
        return "it is not a regular file";
    }
    if (status.st_uid != user && status.st_uid != 0) {
        return "it belongs to user " + std::to_string(status.st_uid) + ", and this process runs as user " +
               std::to_string(user);
    }
    if ((status.st_mode & S_IWOTH) != 0) {
        return "everybody may write to it";
    }
    if ((status.st_mode & S_IWGRP) != 0 && std::find(groups.begin(), groups.end(), status.st_gid) == groups.end()) {
        return "group " + std::to_string(status.st_gid) + " may write to it, which this process is not in";
    }
    return {};
}

/// The groups that this process is in.
inline std::vector<::gid_t> own_groups() {
    std::vector<::gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(static_cast<std::size_t>(std::max(0, count)));
    groups.push_back(::getegid());
    return groups;
}

/// Opens a file that only this process's user or the superuser can have written. Never throws for what is wrong with
/// it.
inline TrustedFile open_trusted(const std::filesystem::path& path) {
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
    } else {
        result.wrong = reason_to_distrust(result.status, ::geteuid(), own_groups());
        result.is_shared = (result.status.st_mode & S_IWGRP) != 0;
    }
    if (result.wrong.empty()) {
        result.file = std::move(file);
    }
    return result;
}

}  // namespace totograph::io
