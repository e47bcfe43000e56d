// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/exec/forks.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve::detail {

/// What was made for a bucket.
struct Built {
    std::unique_ptr<BucketForecaster> forecaster;
    double seconds = 0;
};

/// Makes what serves a bucket on a thread of its own. Its end waits for that.
class BackgroundBuild {
public:
    /// Begins. Throws `std::system_error` when the system has no thread.
    /// @param backend  its place among those that are served
    /// @param which    the bucket's place in that
    BackgroundBuild(std::size_t backend, std::size_t which, Mode mode, std::function<Built()> make)
        : backend_(backend), which_(which), mode_(mode), thread_([this, make = std::move(make)] {
              try {
                  built_ = make();
              } catch (...) {
                  failure_ = std::current_exception();
              }
              is_done_.store(true, std::memory_order_release);
          }) {}
    BackgroundBuild(const BackgroundBuild&) = delete;
    BackgroundBuild& operator=(const BackgroundBuild&) = delete;
    ~BackgroundBuild() { end_thread(); }

    [[nodiscard]] std::size_t backend() const noexcept { return backend_; }
    [[nodiscard]] std::size_t which() const noexcept { return which_; }
    [[nodiscard]] Mode mode() const noexcept { return mode_; }
    [[nodiscard]] bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }

    /// What was made, once; waits for it. Throws what making it has thrown, and `Error(invalid_argument)` in a process
    /// that was forked before it was made.
    Built take() {
        end_thread();
        if (!is_done()) {
            throw Error(ErrorCode::invalid_argument,
                        "A ForecastService was called in a process that was forked while it built a forecaster in the "
                        "background. The thread that built it is not in this process. Make a service in this process, "
                        "or fork before any forecast is asked for.");
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return std::move(built_);
    }

private:
    void end_thread() {
        if (!thread_.joinable()) {
            return;
        }
        if (forks_ == totograph::detail::forks().load()) {
            thread_.join();
        } else {
            totograph::detail::keep_lost_thread(std::move(thread_));
        }
    }

    static std::uint32_t forks_from_now_on() {
        totograph::detail::count_forks();
        return totograph::detail::forks().load();
    }

    std::uint32_t forks_ = forks_from_now_on();
    std::size_t backend_;
    std::size_t which_;
    Mode mode_;
    Built built_;
    std::exception_ptr failure_;
    std::atomic<bool> is_done_{false};
    std::thread thread_;  // the last: it uses the others
};

}  // namespace totograph::serve::detail
