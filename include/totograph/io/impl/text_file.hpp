// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/text_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::string read_descriptor(int descriptor, const std::string& name, std::size_t most_bytes,
                                             std::size_t expected) {
    std::string text;
    std::size_t used = 0;
    while (true) {
        // One byte more than is allowed tells a file of exactly `most_bytes` from a longer one.
        if (used == text.size()) {
            text.resize(std::min(most_bytes + 1, std::max({expected, used * 2, std::size_t{65536}})));
        }
        const ::ssize_t count = ::read(descriptor, text.data() + used, text.size() - used);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw Error(ErrorCode::io_failure, "Reading " + in_quotes(name, longest_quote) + " failed after " +
                                                   std::to_string(used) + " bytes: " + system_reason(errno) + ".");
        }
        if (count == 0) {
            text.resize(used);
            return text;
        }
        used += static_cast<std::size_t>(count);
        if (used > most_bytes) {
            throw Error(ErrorCode::invalid_file, "The file " + in_quotes(name, longest_quote) +
                                                     " holds more than the " + std::to_string(most_bytes) +
                                                     " bytes that are read at most.");
        }
    }
}

TOTOGRAPH_INLINE std::string read_text_file(const std::string& path, std::size_t most_bytes) {
    struct stat status {};
    const FileDescriptor file = open_for_reading(path, status);
    const std::size_t expected = S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) + 1 : 0;
    return read_descriptor(file.get(), path, most_bytes, expected);
}

TOTOGRAPH_INLINE std::string read_regular_text_file(const std::string& path, std::size_t most_bytes) {
    struct stat status {};
    const FileDescriptor file = open_for_reading(path, status, O_NONBLOCK);
    if (!S_ISREG(status.st_mode)) {
        throw Error(ErrorCode::file_not_found,
                    "The path " + in_quotes(path, longest_quote) +
                        " is a pipe, a device or the like, but a regular file was expected. Name a file.");
    }
    return read_descriptor(file.get(), path, most_bytes, static_cast<std::size_t>(status.st_size) + 1);
}

}  // namespace totograph::io
