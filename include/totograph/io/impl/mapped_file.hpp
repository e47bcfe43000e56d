// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/mapped_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
    struct stat status {};
    // Without O_NONBLOCK, opening a named pipe would wait for a writer for ever.
    const FileDescriptor file = open_for_reading(path_, status, O_NONBLOCK);
    map(file, status);
}

TOTOGRAPH_INLINE MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

TOTOGRAPH_INLINE MappedFile::~MappedFile() {
    if (!bytes_.empty()) {
        ::munmap(address(bytes_.data()), bytes_.size());
    }
}

TOTOGRAPH_INLINE void MappedFile::map(const FileDescriptor& file, const struct stat& status) {
    if (!S_ISREG(status.st_mode)) {
        throw Error(ErrorCode::file_not_found, "The path " + in_quotes(path_, longest_quote) +
                                                   " is not a regular file, so it cannot be memory-mapped.");
    }
    if (status.st_size == 0) {
        throw Error(ErrorCode::invalid_file, "The file " + in_quotes(path_, longest_quote) + " is empty.");
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (address == MAP_FAILED) {
        throw Error(ErrorCode::io_failure, "The file " + in_quotes(path_, longest_quote) +
                                               " cannot be memory-mapped: " + system_reason(errno) + ".");
    }
    bytes_ = {static_cast<const std::byte*>(address), size};
}

}  // namespace totograph::io
