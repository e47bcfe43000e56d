// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

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
FileDescriptor open_for_reading(const std::string& path, struct stat& status, int extra_flags = 0);

/// Puts the name of a file on the disk, without which a crash soon after could bring back what stood there before, or
/// nothing. 0, or the `errno` of a disk that fails; some file systems cannot flush folders, and need not.
int flush_name(const std::string& path);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/file_descriptor.hpp>
#endif
