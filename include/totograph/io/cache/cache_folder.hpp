// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace totograph::io {

/// The folder for files that only save time: any of them may be deleted at any moment.
struct CacheFolder {
    std::filesystem::path path;  ///< Need not exist. Empty when there is none.
    std::string missing;         ///< Why there is none.
};

/// Chooses the folder from the values of three environment variables, null for those that are not set:
/// `TOTOGRAPH_CACHE_DIR` (empty: no cache), `$XDG_CACHE_HOME/totograph`, `$HOME/.cache/totograph`.
inline CacheFolder choose_cache_folder(const char* own, const char* cache_home, const char* home) {
    const auto is_absolute = [](const char* path) {
        return path != nullptr && std::string_view(path).substr(0, 1) == "/";
    };
    if (own != nullptr) {
        return *own == '\0' ? CacheFolder{{}, "TOTOGRAPH_CACHE_DIR is empty, which switches the cache off."}
                            : CacheFolder{own, {}};
    }
    // A relative XDG_CACHE_HOME counts as none: it would name another folder from each working directory.
    if (is_absolute(cache_home)) {
        return {std::filesystem::path(cache_home) / "totograph", {}};
    }
    if (is_absolute(home)) {
        return {std::filesystem::path(home) / ".cache" / "totograph", {}};
    }
    return {{}, "Neither TOTOGRAPH_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder; set the first of them."};
}

/// The same with this process's environment, as it is at the call.
inline CacheFolder cache_folder() {
    return choose_cache_folder(std::getenv("TOTOGRAPH_CACHE_DIR"), std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
}

/// The folder for large files, which are kept only where the user asks for it: `TOTOGRAPH_CACHE_DIR`, its value, null
/// when it is not set.
inline CacheFolder choose_large_cache_folder(const char* own) {
    if (own == nullptr) {
        return {{}, "TOTOGRAPH_CACHE_DIR is not set, and prepared weights take as much disk as a checkpoint."};
    }
    return choose_cache_folder(own, nullptr, nullptr);
}

/// The same with this process's environment, as it is at the call.
inline CacheFolder large_cache_folder() {
    return choose_large_cache_folder(std::getenv("TOTOGRAPH_CACHE_DIR"));
}

}  // namespace totograph::io
