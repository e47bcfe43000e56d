// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <string>

#include <totograph/io/file_descriptor.hpp>

namespace totograph::io {

/// Keeps out other processes and threads that lock the same file, which is created when it is missing. For what is
/// correct without a lock and better with one: after a while, or where the file system has no locks, it goes on
/// without.
class FileLock {
public:
    FileLock(const std::string& path, std::chrono::milliseconds patience);

    /// Whether the others are kept out.
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }

private:
    FileDescriptor file_;  // the system takes the lock back when it is closed
    bool is_held_ = false;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/file_lock.hpp>
#endif
