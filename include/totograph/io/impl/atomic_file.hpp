// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/atomic_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE AtomicFile::AtomicFile(const std::string& path, AtomicFileOptions options)
    : shown_(in_quotes(path, longest_quote)), target_(path), flushes_(options.flushes), read_only_(options.read_only) {
    std::error_code ignored;
    const auto at_path = std::filesystem::symlink_status(path, ignored);
    const bool is_link = std::filesystem::is_symlink(at_path);
    const bool replaces_link = is_link && !options.follows_links;
    const auto status = is_link && options.follows_links ? std::filesystem::status(path, ignored) : at_path;
    const bool replaces = std::filesystem::is_regular_file(status);
    // A rename over a device or a pipe would replace it with a plain file.
    if (std::filesystem::exists(status) && !replaces && !replaces_link) {
        throw Error(ErrorCode::invalid_argument, "The path " + shown_ +
                                                     " exists and is not a regular file, so it cannot be replaced."
                                                     " Name another file.");
    }
    // Follow symbolic links, so that the file they lead to is replaced and not the link.
    if (replaces) {
        const auto resolved = std::filesystem::canonical(path, ignored);
        target_ = ignored ? path : resolved.string();
    }
    create_temporary(options.only_owner_writes ? 0644 : 0666);
    if (replaces && options.keeps_permissions) {
        const auto taken = static_cast<::mode_t>(options.only_owner_writes ? S_IWGRP | S_IWOTH : 0);
        ::fchmod(file_.get(), static_cast<::mode_t>(status.permissions()) & ~taken);
    }
}

TOTOGRAPH_INLINE AtomicFile::~AtomicFile() {
    if (!temporary_.empty()) {
        file_.close();
        ::unlink(temporary_.c_str());
    }
}

TOTOGRAPH_INLINE void AtomicFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ::ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR) {
            fail("writing failed", errno);
        }
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
    }
}

TOTOGRAPH_INLINE void AtomicFile::commit() {
    if (struct stat status{}; read_only_ && ::fstat(file_.get(), &status) == 0) {
        // Where a file system knows no such right, the file is as good without.
        (void)::fchmod(file_.get(), status.st_mode & (S_IRUSR | S_IRGRP | S_IROTH));
    }
    // Without the flush a crash after the rename could leave an empty file under the final name.
    if (flushes_ && ::fsync(file_.get()) != 0) {
        fail("flushing failed", errno);
    }
    if (const int error_number = file_.close(); error_number != 0) {
        fail("closing failed", error_number);
    }
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
        fail("renaming the temporary file failed", errno);
    }
    temporary_.clear();
    if (const int error_number = flushes_ ? flush_name(target_) : 0; error_number != 0) {
        throw Error(ErrorCode::io_failure,
                    "The file " + shown_ + " was written, but its name could not be put on the disk: " +
                        system_reason(error_number) + ". It may be lost when the machine stops.");
    }
}

TOTOGRAPH_INLINE void AtomicFile::create_temporary(::mode_t mode) {
    static std::atomic<std::uint64_t> counter{0};
    while (true) {
        const std::string candidate = target_ + ".tmp-" + std::to_string(::getpid()) + "-" +
                                      std::to_string(counter.fetch_add(1, std::memory_order_relaxed));
        file_ = FileDescriptor(::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        if (file_) {
            temporary_ = candidate;
            return;
        }
        if (errno != EEXIST) {
            throw Error(ErrorCode::file_not_found, "The file " + shown_ +
                                                       " cannot be written: " + system_reason(errno) +
                                                       ". Check that its directory exists"
                                                       " and may be written.");
        }
    }
}

}  // namespace totograph::io
