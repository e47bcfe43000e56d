// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <totograph/io/file_descriptor.hpp>

namespace totograph::io {

/// A whole file, memory-mapped read-only. Move-only; a moved-from object holds no bytes.
///
/// The file must not shrink while it is mapped: the system answers a read past the new end with a signal, not an error.
class MappedFile {
public:
    /// Maps the file. Throws `Error(file_not_found)` when it is missing, a directory or otherwise not a regular file,
    /// `Error(invalid_file)` when it is empty, and `Error(io_failure)` when the system refuses to map it.
    explicit MappedFile(std::string path);
    /// Maps a file that is open: `status` is what `fstat` says of it, and `path` is what messages call it. Throws as
    /// above.
    MappedFile(std::string path, const FileDescriptor& file, const struct stat& status) : path_(std::move(path)) {
        map(file, status);
    }

    MappedFile(MappedFile&& other) noexcept
        : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, std::span<const std::byte>{})) {}
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    void map(const FileDescriptor& file, const struct stat& status);

    // The system's calls take a pointer to non-const although they never write through it.
    static void* address(const std::byte* byte) noexcept { return const_cast<std::byte*>(byte); }

    std::string path_;
    std::span<const std::byte> bytes_;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/mapped_file.hpp>
#endif
