// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/forecast/cpu/resources.hpp>

namespace examples::detail {

/// Refuses a command line.
[[noreturn]] inline void reject(const std::string& sentence) {
    throw totograph::Error(totograph::ErrorCode::invalid_argument, sentence);
}

inline void check_at_least(std::int64_t value, std::int64_t least, const std::string& option) {
    if (value < least) {
        reject(option + " must be at least " + std::to_string(least) + ", but it is " + std::to_string(value) + ".");
    }
}

inline void check_at_most(std::int64_t value, std::int64_t most, const std::string& option) {
    if (value > most) {
        reject(option + " must be at most " + std::to_string(most) + ", but it is " + std::to_string(value) + ".");
    }
}

/// Refuses a number of threads that no machine has: starting them would fail, or take long.
inline void check_threads(std::int64_t threads) {
    check_at_least(threads, 0, "--threads");
    check_at_most(threads, totograph::most_threads, "--threads");
}

}  // namespace examples::detail
