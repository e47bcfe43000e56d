// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace totograph::io {

/// The folder for files that only save time: any of them may be deleted at any moment.
struct CacheFolder {
    std::string path;     ///< Need not exist. Empty when there is none.
    std::string missing;  ///< Why there is none.
};

/// Chooses the folder from the values of three environment variables, null for those that are not set:
/// `TOTOGRAPH_CACHE_DIR` (empty: no cache), `$XDG_CACHE_HOME/totograph`, `$HOME/.cache/totograph`.
CacheFolder choose_cache_folder(const char* own, const char* cache_home, const char* home);

/// The same with this process's environment, as it is at the call.
inline CacheFolder cache_folder() {
    return choose_cache_folder(std::getenv("TOTOGRAPH_CACHE_DIR"), std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
}

/// The folder for large files, which are kept only where the user asks for it: `TOTOGRAPH_CACHE_DIR`, its value, null
/// when it is not set.
CacheFolder choose_large_cache_folder(const char* own);

/// The same with this process's environment, as it is at the call.
inline CacheFolder large_cache_folder() {
    return choose_large_cache_folder(std::getenv("TOTOGRAPH_CACHE_DIR"));
}

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/cache/impl/cache_folder.hpp>
#endif
