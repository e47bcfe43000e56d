// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

/// A whole file, memory-mapped read-only. Move-only; a moved-from object holds no bytes.
///
/// The file must not shrink while it is mapped: the system answers a read past the new end with a signal, not an error.
class MappedFile {
public:
    /// Maps the file. Throws `Error(file_not_found)` when it is missing, a directory or otherwise not a regular file,
    /// `Error(invalid_file)` when it is empty, and `Error(io_failure)` when the system refuses to map it.
    explicit MappedFile(std::filesystem::path path) : path_(std::move(path)) {
        struct stat status {};
        // Without O_NONBLOCK, opening a named pipe would wait for a writer for ever.
        const FileDescriptor file = open_for_reading(path_, status, O_NONBLOCK);
        map(file, status);
    }
    /// Maps a file that is open: `status` is what `fstat` says of it, and `path` is what messages call it. Throws as
    /// above.
    MappedFile(std::filesystem::path path, const FileDescriptor& file, const struct stat& status)
        : path_(std::move(path)) {
        map(file, status);
    }

    MappedFile(MappedFile&& other) noexcept
        : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, std::span<const std::byte>{})) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile() {
        if (!bytes_.empty()) {
            ::munmap(address(bytes_.data()), bytes_.size());
        }
    }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    void map(const FileDescriptor& file, const struct stat& status) {
        if (!S_ISREG(status.st_mode)) {
            throw Error(ErrorCode::file_not_found, "The path " + in_quotes(path_.string(), longest_quote) +
                                                       " is not a regular file, so it cannot be memory-mapped.");
        }
        if (status.st_size == 0) {
            throw Error(ErrorCode::invalid_file, "The file " + in_quotes(path_.string(), longest_quote) + " is empty.");
        }
        const auto size = static_cast<std::size_t>(status.st_size);
        void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
        if (address == MAP_FAILED) {
            throw Error(ErrorCode::io_failure, "The file " + in_quotes(path_.string(), longest_quote) +
                                                   " cannot be memory-mapped: " + system_reason(errno) + ".");
        }
        bytes_ = {static_cast<const std::byte*>(address), size};
    }

    // The system's calls take a pointer to non-const although they never write through it.
    static void* address(const std::byte* byte) noexcept { return const_cast<std::byte*>(byte); }

    std::filesystem::path path_;
    std::span<const std::byte> bytes_;
};

}  // namespace totograph::io
