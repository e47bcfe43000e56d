// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

#include "format.hpp"

namespace examples {

/// How long something takes, for a person: "40 s", "3 min", "2 h 5 min".
inline std::string rough_duration(double seconds) {
    const auto minutes = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e12) / 60));
    if (seconds < 99.5) {
        return fixed_number(std::ceil(seconds), 0) + " s";
    }
    if (minutes < 100) {
        return std::to_string(minutes) + " min";
    }
    const std::string hours = count_text(minutes / 60) + " h";
    return minutes % 60 == 0 ? hours : hours + " " + std::to_string(minutes % 60) + " min";
}

/// The text of a progress line. With a `share` between 0 and 1 the bar fills; with a negative one a block wanders,
/// since only the time is known. `seconds_left` is shown unless it is negative.
inline std::string progress_line(const std::string& stage, double seconds, double share, double seconds_left) {
    constexpr int width = 24;
    std::string bar;
    const int head = static_cast<int>(seconds * 12) % (2 * width);
    const int middle = head < width ? head : 2 * width - 1 - head;
    for (int cell = 0; cell < width; ++cell) {
        const bool full = share >= 0 ? cell < share * width : cell >= middle - 2 && cell <= middle + 2;
        bar += full ? "━" : "┄";
    }
    return bar + " " + stage + ", " +
           (seconds_left < 0 ? fixed_number(seconds, 1) + " s" : "about " + rough_duration(seconds_left) + " left");
}

/// Tells from the shares that are done and the time how long the rest will take. What was done before the first share
/// (by a run that was interrupted, say) took no time of this one.
class TimeLeft {
public:
    /// The rest in seconds, or -1 while it cannot be told.
    double at(double seconds, double share) {
        if (share < 0 || first_share_ < 0 || share < first_share_) {
            first_share_ = share;
            first_seconds_ = seconds;
            return -1;
        }
        const double done = share - first_share_;
        return done > 0 ? (seconds - first_seconds_) / done * (1 - share) : -1;
    }

private:
    double first_share_ = -1;
    double first_seconds_ = 0;
};

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

    /// Names what is being done now; a share between 0 and 1 says how much of it is done, and so how long it will take.
    void stage(const std::string& name, double share = -1) {
        const std::lock_guard<std::mutex> lock(mutex_);
        stage_ = name;
        share_ = share;
        seconds_left_ = time_left_.at(seconds(), share);
        told_ = seconds();
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
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

    void paint() {
        using namespace std::chrono_literals;
        std::unique_lock<std::mutex> lock(mutex_);
        bool painted = false;
        for (auto pause = 500ms; !wake_.wait_for(lock, pause, [this] { return finished_; }); pause = 100ms) {
            const double now = seconds();
            const double left = seconds_left_ < 0 ? -1 : std::max(seconds_left_ - (now - told_), 0.0);
            terminal_ << "\r\x1b[K" << progress_line(stage_, now, share_, left) << std::flush;
            painted = true;
        }
        if (painted) {
            terminal_ << "\r\x1b[K" << std::flush;
        }
    }

    std::ostream& terminal_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable wake_;
    bool finished_ = false;
    std::string stage_ = "working";
    double share_ = -1;
    TimeLeft time_left_;
    double seconds_left_ = -1;  // as of `told_`
    double told_ = 0;
    std::thread painter_;
};

}  // namespace examples
