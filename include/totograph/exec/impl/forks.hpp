// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/forks.hpp>

#ifdef __unix__
#include <pthread.h>
#endif
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>

namespace totograph::detail {

TOTOGRAPH_INLINE void count_forks() {
#ifdef __unix__
    [[maybe_unused]] static const int counts = pthread_atfork(nullptr, nullptr, [] { forks().fetch_add(1); });
#endif
}

TOTOGRAPH_INLINE void keep_lost_thread(std::thread&& thread) {
    static std::mutex mutex;
    static auto& lost = *new std::vector<std::thread>();  // whose end would end the process
    const std::scoped_lock lock(mutex);
    lost.push_back(std::move(thread));
}

}  // namespace totograph::detail
