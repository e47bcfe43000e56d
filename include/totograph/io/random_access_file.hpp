// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>

#include <totograph/io/file_descriptor.hpp>

namespace totograph::io {

/// A regular file that is open for reading at any place, by any number of threads. Move-only.
///
/// Bytes are copied out of the file and never mapped: a file that shrinks or is written to while it is open is an
/// `Error` at the next read, where a mapped one would end the process with a signal or change under its reader. A file
/// that is removed, or replaced by a rename, stays readable as it was.
class RandomAccessFile {
public:
    /// Opens the file. Throws `Error(file_not_found)` when it is missing, a directory or otherwise not a regular file.
    explicit RandomAccessFile(std::string path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// How many bytes it had when it was opened.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(opened_.st_size); }

    /// Fills `to` with the bytes from `offset` on, as they were when the file was opened. Throws `Error(io_failure)`
    /// when the file has changed since, ends before, or cannot be read.
    void read(std::size_t offset, std::span<std::byte> to) const;

private:
    void check_unchanged() const;

    std::string path_;
    struct stat opened_ {};
    FileDescriptor file_;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/random_access_file.hpp>
#endif
