// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/processors.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

namespace totograph {

/// What is decided when a forecaster is made.
struct ForecasterResources {
    int threads = 0;  ///< Threads that one forecast uses; 0: as many as find a processor (`default_threads`).
    /// The threads themselves, for forecasters that share them and never forecast at the same time; `threads` then does
    /// not count. Without, a forecaster starts its own.
    std::shared_ptr<cpu::ThreadPool> pool{};
};

/// As many threads as a forecast may be asked to use. More are a mistake, and starting them would take what the system
/// has of them from everybody else, before it failed.
inline constexpr int most_threads = 4096;

/// How many threads a forecast uses that may use so many; 0 stands for as many as this process has processors to use:
/// those that it may run on, within the quota of its container. Throws `Error` (`invalid_argument`) when it is
/// negative, and beyond `most_threads`.
inline int thread_count(int threads) {
    if (threads < 0 || threads > most_threads) {
        throw Error(ErrorCode::invalid_argument,
                    "A forecaster cannot use " + std::to_string(threads) +
                        " threads. Pass 0 to use all processors, or the number of threads that a forecast may use, "
                        "at most " +
                        std::to_string(most_threads) + ".");
    }
    return threads > 0 ? threads : default_threads();
}

/// The pool of `resources`, or a new one. Throws `Error` (`invalid_argument`) as `thread_count`.
inline std::shared_ptr<cpu::ThreadPool> thread_pool_of(const ForecasterResources& resources) {
    const int threads = thread_count(resources.threads);
    return resources.pool ? resources.pool : std::make_shared<cpu::ThreadPool>(threads);
}

}  // namespace totograph
