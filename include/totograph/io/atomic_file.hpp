// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

/// How an `AtomicFile` differs from the careful way.
struct AtomicFileOptions {
    bool keeps_permissions = true;   ///< The file has those of the one that it replaces; else those of a new file.
    bool flushes = true;             ///< Without, a crash of the machine soon after may leave a file of any content.
    bool follows_links = true;       ///< Replaces what a symbolic link leads to; else the link itself.
    bool only_owner_writes = false;  ///< Takes the permission to write from all others, whatever the umask.
    bool read_only = false;          ///< Once it is whole nobody may write to it: it can be replaced, and not changed.
};

/// Writes a file so that nobody ever sees half of it: bytes go to a temporary file beside it, and `commit` renames that
/// over the target. Without a `commit` the target stays as it was and the temporary file is removed.
class AtomicFile {
public:
    /// Creates the temporary file. Throws `Error(invalid_argument)` when the target exists and is not a regular file,
    /// and `Error(file_not_found)` with the system's reason when the directory is missing or cannot be written.
    explicit AtomicFile(const std::string& path, AtomicFileOptions options = {});

    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    /// Appends bytes. Throws `Error(io_failure)` with the system's reason.
    void write(std::span<const std::byte> bytes);

    /// Appends text. Throws `Error(io_failure)` with the system's reason.
    void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

    /// Puts the file in its place. Throws `Error(io_failure)` with the system's reason.
    void commit();

private:
    void create_temporary(::mode_t mode);

    [[noreturn]] void fail(const std::string& what, int error_number) const {
        throw Error(ErrorCode::io_failure, "The file " + shown_ + " was not written: " + what + ": " +
                                               system_reason(error_number) + ". What stood there before is unchanged.");
    }

    std::string shown_;
    std::string target_;
    bool flushes_;
    bool read_only_;
    std::string temporary_;
    FileDescriptor file_;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/atomic_file.hpp>
#endif
