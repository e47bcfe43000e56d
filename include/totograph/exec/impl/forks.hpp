// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/forks.hpp>

#ifdef __unix__
#include <pthread.h>
#endif

#include <totograph/core/inline.hpp>

namespace totograph::detail {

TOTOGRAPH_INLINE void count_forks() {
#ifdef __unix__
    [[maybe_unused]] static const int counts = pthread_atfork(nullptr, nullptr, [] { forks().fetch_add(1); });
#endif
}

}  // namespace totograph::detail
