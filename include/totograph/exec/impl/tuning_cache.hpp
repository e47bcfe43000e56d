// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/tuning_cache.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/cache/checksum.hpp>
#include <totograph/io/text.hpp>

namespace totograph {

TOTOGRAPH_INLINE TuningCache::TuningCache(const io::CacheFolder& folder, std::string_view name, std::string identity)
    : identity_(std::move(identity)) {
    if (folder.path.empty()) {
        report_.ignored = folder.missing;
        return;
    }
    path_ = (std::filesystem::path(folder.path) / file_name(name, identity_)).string();
    report_.path = path_;
    io::CacheContent content = io::read_cache_file(path_, identity_);
    report_.ignored = content.ignored;
    if (!content.ignored.empty()) {
        counts_.add_ignored(content.ignored);
        log(LogTopic::tuning, [&] { return content.ignored; });
    }
    for (auto& [key, choice] : content.records) {
        choices_.emplace(key, Choice{std::move(choice), Origin::unchecked});
    }
}

TOTOGRAPH_INLINE void TuningCache::save() {
    if (!is_unsaved_ || path_.empty()) {
        return;
    }
    io::CacheRecords added;
    io::CacheRecords corrected;
    for (const auto& [key, choice] : choices_) {
        if (choice.origin == Origin::process) {
            (refused_.contains(key) ? corrected : added).emplace(key, choice.bytes);
        }
    }
    const std::size_t kept = added.size() + corrected.size();
    report_.not_written = io::update_cache_file(path_, identity_, std::move(added), corrected);
    is_unsaved_ = !report_.not_written.empty();
    log(LogTopic::tuning, [&] {
        return is_unsaved_ ? report_.not_written
                           : std::to_string(kept) + (kept == 1 ? " choice is" : " choices are") + " kept in " +
                                 io::in_quotes(path_, io::longest_quote);
    });
    if (!is_unsaved_) {
        refused_.clear();
    }
}

TOTOGRAPH_INLINE std::string TuningCache::file_name(std::string_view name, std::string_view identity) {
    constexpr std::size_t longest = 64;
    std::string result;
    for (const char character : name.substr(0, longest)) {
        const bool is_digit = character >= '0' && character <= '9';
        const bool is_upper = character >= 'A' && character <= 'Z';
        const bool is_plain = is_digit || (character >= 'a' && character <= 'z');
        result += is_upper ? static_cast<char>(character - 'A' + 'a') : is_plain ? character : '-';
    }
    result += '-' + std::to_string(io::cache_format) + '-';
    return result + io::checksum_text(identity) + ".cache";
}

}  // namespace totograph
