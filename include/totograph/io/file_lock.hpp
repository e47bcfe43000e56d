// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include <totograph/io/file_descriptor.hpp>

namespace totograph::io {

/// Keeps out other processes and threads that lock the same file, which is created when it is missing. For what is
/// correct without a lock and better with one: after a while, or where the file system has no locks, it goes on
/// without.
class FileLock {
public:
    FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience)
        : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666)) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (file_ && !is_held_) {
            if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) {
                is_held_ = true;
            } else if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() >= end) {
                return;
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            }
        }
    }

    /// Whether the others are kept out.
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }

private:
    FileDescriptor file_;  // the system takes the lock back when it is closed
    bool is_held_ = false;
};

}  // namespace totograph::io
