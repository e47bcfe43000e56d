// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

#include "format.hpp"

namespace examples {

/// The text of a progress line. With a `share` between 0 and 1 the bar fills; with a negative one a block wanders,
/// since only the time is known.
inline std::string progress_line(const std::string& stage, double seconds, double share) {
    constexpr int width = 24;
    std::string bar;
    const int head = static_cast<int>(seconds * 12) % (2 * width);
    const int middle = head < width ? head : 2 * width - 1 - head;
    for (int cell = 0; cell < width; ++cell) {
        const bool full = share >= 0 ? cell < share * width : cell >= middle - 2 && cell <= middle + 2;
        bar += full ? "━" : "┄";
    }
    return bar + " " + stage + ", " + fixed_number(seconds, 1) + " s";
}

/// A bar on a terminal that shows what a long computation is at. Nothing appears during the first half second, and
/// nothing at all unless `enabled`; the destructor wipes the line.
class Progress {
public:
    Progress(std::ostream& terminal, bool enabled) : terminal_(terminal) {
        if (enabled) {
            painter_ = std::thread([this] { paint(); });
        }
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { finish(); }

    /// Names what is being done now; a share between 0 and 1 says how much of it is.
    void stage(const std::string& name, double share = -1) {
        const std::lock_guard<std::mutex> lock(mutex_);
        stage_ = name;
        share_ = share;
    }

    /// Wipes the bar; nothing is painted afterwards.
    void finish() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            finished_ = true;
        }
        wake_.notify_all();
        if (painter_.joinable()) {
            painter_.join();
        }
    }

private:
    void paint() {
        using namespace std::chrono_literals;
        const auto start = std::chrono::steady_clock::now();
        std::unique_lock<std::mutex> lock(mutex_);
        bool painted = false;
        for (auto pause = 500ms; !wake_.wait_for(lock, pause, [this] { return finished_; }); pause = 100ms) {
            const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
            terminal_ << "\r\x1b[K" << progress_line(stage_, elapsed.count(), share_) << std::flush;
            painted = true;
        }
        if (painted) {
            terminal_ << "\r\x1b[K" << std::flush;
        }
    }

    std::ostream& terminal_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool finished_ = false;
    std::string stage_ = "working";
    double share_ = -1;
    std::thread painter_;
};

}  // namespace examples
