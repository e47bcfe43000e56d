// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/random_access_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE RandomAccessFile::RandomAccessFile(std::string path) : path_(std::move(path)) {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer for ever.
    file_ = open_for_reading(path_, opened_, O_NONBLOCK);
    if (!S_ISREG(opened_.st_mode)) {
        throw Error(ErrorCode::file_not_found,
                    "The path " + in_quotes(path_, longest_quote) + " is not a regular file. Name a file.");
    }
}

TOTOGRAPH_INLINE void RandomAccessFile::read(std::size_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
        const ::ssize_t count = ::pread(file_.get(), to.data(), to.size(), static_cast<::off_t>(offset));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw Error(ErrorCode::io_failure, "Reading " + in_quotes(path_, longest_quote) + " failed at byte " +
                                                   std::to_string(offset) + ": " + system_reason(errno) + ".");
        }
        if (count == 0) {
            break;
        }
        to = to.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::size_t>(count);
    }
    check_unchanged();  // also when all bytes came: they may be those of another content
    if (!to.empty()) {
        throw Error(ErrorCode::io_failure, "The file " + in_quotes(path_, longest_quote) + " ends at byte " +
                                               std::to_string(offset) + ", before what is read from it.");
    }
}

TOTOGRAPH_INLINE void RandomAccessFile::check_unchanged() const {
    struct stat now {};
    if (::fstat(file_.get(), &now) != 0) {
        throw Error(ErrorCode::io_failure, "The file " + in_quotes(path_, longest_quote) +
                                               " cannot be examined: " + system_reason(errno) + ".");
    }
    if (now.st_size != opened_.st_size || now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec) {
        throw Error(ErrorCode::io_failure,
                    "The file " + in_quotes(path_, longest_quote) + " was written to while it was in use: it had " +
                        std::to_string(opened_.st_size) + " bytes when it was opened and has " +
                        std::to_string(now.st_size) +
                        " now. Load it again, and replace such a file by renaming another one over it.");
    }
}

}  // namespace totograph::io
