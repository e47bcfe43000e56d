// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether sanitizers of memory or threads watch, which slow everything down. What a test repeats to find rare mistakes
// in values it repeats less often there: other builds look for those, this one for mistakes in memory.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TOTOGRAPH_TEST_HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TOTOGRAPH_TEST_HAS_SANITIZER
#endif
#endif

namespace totograph::test {

#ifdef TOTOGRAPH_TEST_HAS_SANITIZER
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// Of so many repetitions, a quarter under sanitizers.
template <class Count>
constexpr Count repetitions(Count all) {
    return is_sanitized ? all / 4 : all;
}

}  // namespace totograph::test
