// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/cache/weight_file.hpp>
#include <totograph/io/file_lock.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve {

namespace detail {

/// What a file of records says it was written for, if it can be read that far.
std::string identity_in(const std::filesystem::path& path);

bool begins_as_records(const std::filesystem::path& path);

/// Why a file of prepared weights cannot be used by whatever it was written for; empty when it can.
std::string wrong_with_weights(const std::filesystem::path& path);

/// Whether a file was begun and not yet put in its place.
inline bool is_left_over(std::string_view file) {
    return file.find(".tmp-") != std::string_view::npos;
}

inline Check left_over(std::string_view file) {
    return {"cache file", CheckResult::warning, io::in_quotes(file, 200) + " was left by a process that died",
            "Delete it when no process is writing to the folder."};
}

/// A folder whose files no process believes.
inline Check open_folder(std::string distrusted) {
    return {"cache folder", CheckResult::failed, std::move(distrusted),
            "Without that, each process makes anew what the folder would keep."};
}

/// Prepared weights in `root`: a check for each file that cannot be used, and one for all others.
std::vector<Check> check_weight_files(const std::filesystem::path& root);

/// A file of records, or what should be one.
Check check_cache_file(const std::filesystem::path& path);

/// A check for each file of records in a folder, by name.
std::vector<Check> check_cache_files(const std::filesystem::path& folder);

}  // namespace detail

/// Whether the folder for caches is there or can be made, can be written by its owner alone, and locked, and whether
/// its files are whole. Makes and deletes a file of its own there.
std::vector<Check> check_cache_folder(const io::CacheFolder& folder);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/verify/impl/caches.hpp>
#endif
