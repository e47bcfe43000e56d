// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/log.hpp>

namespace totograph::detail {

/// Keeps what this thread logs while it lives, and writes it at its end: of several, which end in the opposite order,
/// at the end of the first. Made before a lock, so that the sink, which may make a forecaster, is called when the lock
/// is gone. What is held when the process exits is lost.
class HeldLog {
public:
    HeldLog() noexcept : is_first_(held_lines() == nullptr) {
        if (is_first_) {
            held_lines() = &lines_;
        }
    }
    HeldLog(const HeldLog&) = delete;
    HeldLog& operator=(const HeldLog&) = delete;
    ~HeldLog() {
        if (is_first_) {
            held_lines() = nullptr;
            write_held(lines_);
        }
    }

private:
    HeldLines lines_;
    bool is_first_;
};

}  // namespace totograph::detail
