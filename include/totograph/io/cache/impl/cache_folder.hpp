// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/cache/cache_folder.hpp>

#include <filesystem>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE CacheFolder choose_cache_folder(const char* own, const char* cache_home, const char* home) {
    const auto is_absolute = [](const char* path) {
        return path != nullptr && std::string_view(path).substr(0, 1) == "/";
    };
    if (own != nullptr) {
        return *own == '\0' ? CacheFolder{{}, "TOTOGRAPH_CACHE_DIR is empty, which switches the cache off."}
                            : CacheFolder{own, {}};
    }
    // A relative XDG_CACHE_HOME counts as none: it would name another folder from each working directory.
    if (is_absolute(cache_home)) {
        return {(std::filesystem::path(cache_home) / "totograph").string(), {}};
    }
    if (is_absolute(home)) {
        return {(std::filesystem::path(home) / ".cache" / "totograph").string(), {}};
    }
    return {{}, "Neither TOTOGRAPH_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder; set the first of them."};
}

TOTOGRAPH_INLINE CacheFolder choose_large_cache_folder(const char* own) {
    if (own == nullptr) {
        return {{}, "TOTOGRAPH_CACHE_DIR is not set, and prepared weights take as much disk as a checkpoint."};
    }
    return choose_cache_folder(own, nullptr, nullptr);
}

}  // namespace totograph::io
