// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/file_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include <totograph/core/inline.hpp>
#include <totograph/io/file_descriptor.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE FileLock::FileLock(const std::string& path, std::chrono::milliseconds patience)
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

}  // namespace totograph::io
