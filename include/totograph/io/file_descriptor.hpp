// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

/// Owns a POSIX file descriptor.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
    FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    ~FileDescriptor() { close(); }

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }

    /// Closes the file; 0, or the `errno` of a close that reports a lost write.
    int close() noexcept {
        const int descriptor = std::exchange(descriptor_, -1);
        return descriptor >= 0 && ::close(descriptor) != 0 ? errno : 0;
    }

private:
    int descriptor_ = -1;
};

/// Opens a file for reading. Throws `Error(file_not_found)` with the system's reason when it cannot be opened, or when
/// it is a directory. `status` receives what `fstat` says of it.
inline FileDescriptor open_for_reading(const std::filesystem::path& path, struct stat& status, int extra_flags = 0) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | extra_flags));
    if (!file) {
        throw Error(ErrorCode::file_not_found, "The file " + in_quotes(path.string(), longest_quote) +
                                                   " cannot be opened: " + system_reason(errno) + ". Check the path.");
    }
    if (::fstat(file.get(), &status) != 0) {
        throw Error(ErrorCode::io_failure, "The file " + in_quotes(path.string(), longest_quote) +
                                               " cannot be examined: " + system_reason(errno) + ".");
    }
    if (S_ISDIR(status.st_mode)) {
        throw Error(ErrorCode::file_not_found,
                    "The path " + in_quotes(path.string(), longest_quote) +
                        " is a directory, but a file was expected. Name the file inside it.");
    }
    return file;
}

/// Puts the name of a file on the disk, without which a crash soon after could bring back what stood there before, or
/// nothing. 0, or the `errno` of a disk that fails; some file systems cannot flush folders, and need not.
inline int flush_name(const std::filesystem::path& path) {
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (opened && ::fsync(opened.get()) != 0) {
        if (errno != EINTR) {
            return errno == EINVAL || errno == ENOTSUP || errno == EBADF ? 0 : errno;
        }
    }
    return 0;
}

}  // namespace totograph::io
