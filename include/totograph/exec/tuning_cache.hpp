// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/tuning_cache_report.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/text.hpp>

namespace totograph {

/// Choices by key, of this process and of a file that other processes share. Keys and choices are any bytes. What
/// becomes of look-ups is also counted for the process, as `tuning` (see `cache_counts`): hits and misses of the file.
class TuningCache {
public:
    /// Reads the file for `identity`: all that choices depend on beside their keys. `name` begins the file's name.
    TuningCache(const io::CacheFolder& folder, std::string_view name, std::string identity);

    /// The choice for a key. One that comes from the file is used only when `accepts(choice)` says so. Nothing: the
    /// caller must make one, and `add` it.
    template <class Accepts>
    std::optional<std::string> find(std::string_view key, Accepts&& accepts) {
        const auto found = choices_.find(key);
        if (found == choices_.end()) {
            ++report_.misses;
            counts_.add_misses();
            return std::nullopt;
        }
        Choice& choice = found->second;
        if (choice.origin != Origin::unchecked) {
            ++report_.repeats;
            return choice.bytes;
        }
        if (!accepts(std::string_view(choice.bytes))) {
            choices_.erase(found);
            refused_.emplace(key);
            ++report_.misses;
            ++report_.refused;
            counts_.add_misses();
            return std::nullopt;
        }
        choice.origin = Origin::file;
        ++report_.hits;
        counts_.add_hits();
        return choice.bytes;
    }

    /// Keeps a choice. Files of other processes see it after `save`.
    void add(std::string_view key, std::string_view choice) {
        choices_.insert_or_assign(std::string(key), Choice{std::string(choice), Origin::process});
        is_unsaved_ = true;
    }

    /// Adds this process's choices to the file. What goes wrong is told by the report.
    void save();

    [[nodiscard]] const TuningCacheReport& report() const noexcept { return report_; }

    /// A file for each identity: the beginning of `name`, in letters that any file system takes, the format, so that
    /// programs of two versions do not replace each other's files, and a checksum of the identity.
    static std::string file_name(std::string_view name, std::string_view identity);

private:
    enum class Origin : unsigned char { unchecked, file, process };
    struct Choice {
        std::string bytes;
        Origin origin = Origin::unchecked;
    };

    CacheCounter& counts_ = cache_counts().of("tuning");
    std::string identity_;
    std::string path_;
    std::map<std::string, Choice, std::less<>> choices_;
    std::set<std::string, std::less<>> refused_;
    bool is_unsaved_ = false;
    TuningCacheReport report_;
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/tuning_cache.hpp>
#endif
