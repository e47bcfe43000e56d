// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE FileDescriptor open_for_reading(const std::string& path, struct stat& status, int extra_flags) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | extra_flags));
    if (!file) {
        const int reason = errno;
        const std::string_view advice = reason == EACCES || reason == EPERM
                                            ? "; ask its owner to let this user read it and enter its folders."
                                            : ". Check the path.";
        throw Error(ErrorCode::file_not_found, "The file " + in_quotes(path, longest_quote) +
                                                   " cannot be opened: " + system_reason(reason) + std::string(advice));
    }
    if (::fstat(file.get(), &status) != 0) {
        throw Error(ErrorCode::io_failure, "The file " + in_quotes(path, longest_quote) +
                                               " cannot be examined: " + system_reason(errno) + ".");
    }
    if (S_ISDIR(status.st_mode)) {
        throw Error(ErrorCode::file_not_found,
                    "The path " + in_quotes(path, longest_quote) +
                        " is a directory, but a file was expected. Name the file inside it.");
    }
    return file;
}

TOTOGRAPH_INLINE int flush_name(const std::string& path) {
    const std::filesystem::path above = std::filesystem::path(path).parent_path();
    const std::filesystem::path folder = above.empty() ? "." : above;
    const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (opened && ::fsync(opened.get()) != 0) {
        if (errno != EINTR) {
            return errno == EINVAL || errno == ENOTSUP || errno == EBADF ? 0 : errno;
        }
    }
    return 0;
}

}  // namespace totograph::io
