// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/log.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/text.hpp>

namespace totograph {

/// What became of the choices that one cache was asked for, in this process.
struct TuningCacheReport {
    std::size_t hits = 0;     ///< Chosen without measuring, from the file.
    std::size_t misses = 0;   ///< Measured, because the file had no choice that could be used.
    std::size_t repeats = 0;  ///< Chosen before in this process.
    std::size_t refused = 0;  ///< Of the misses: the file had a choice that could not be accepted.
    std::string path;         ///< The file; empty when there is none.
    std::string ignored;      ///< Why the file was not used; empty when it was, or did not exist.
    std::string not_written;  ///< Why choices were not kept in the file; empty when they were, or there were none.
};

/// The report in a line.
inline std::string to_string(const TuningCacheReport& report) {
    std::string text = std::to_string(report.hits) + " from the file, " + std::to_string(report.misses) +
                       " measured, " + std::to_string(report.repeats) + " known already";
    text += report.refused == 0 ? "" : ", " + std::to_string(report.refused) + " of the file refused";
    text += report.path.empty() ? "; no file" : "; " + report.path;
    text += report.ignored.empty() ? "" : "; " + report.ignored;
    return text + (report.not_written.empty() ? "" : "; " + report.not_written);
}

/// Choices by key, of this process and of a file that other processes share. Keys and choices are any bytes. What
/// becomes of look-ups is also counted for the process, as `tuning` (see `cache_counts`): hits and misses of the file.
class TuningCache {
public:
    /// Reads the file for `identity`: all that choices depend on beside their keys. `name` begins the file's name.
    TuningCache(const io::CacheFolder& folder, std::string_view name, std::string identity)
        : identity_(std::move(identity)) {
        if (folder.path.empty()) {
            report_.ignored = folder.missing;
            return;
        }
        path_ = folder.path / file_name(name, identity_);
        report_.path = path_.string();
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
    void save() {
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
                                     io::in_quotes(path_.string(), io::longest_quote);
        });
        if (!is_unsaved_) {
            refused_.clear();
        }
    }

    [[nodiscard]] const TuningCacheReport& report() const noexcept { return report_; }

    /// A file for each identity: the beginning of `name`, in letters that any file system takes, the format, so that
    /// programs of two versions do not replace each other's files, and a checksum of the identity.
    static std::string file_name(std::string_view name, std::string_view identity) {
        constexpr std::string_view digits = "0123456789abcdef";
        constexpr std::size_t longest = 64;
        std::string result;
        for (const char character : name.substr(0, longest)) {
            const bool is_digit = character >= '0' && character <= '9';
            const bool is_upper = character >= 'A' && character <= 'Z';
            const bool is_plain = is_digit || (character >= 'a' && character <= 'z');
            result += is_upper ? static_cast<char>(character - 'A' + 'a') : is_plain ? character : '-';
        }
        result += '-' + std::to_string(io::cache_format) + '-';
        const std::uint64_t sum = io::checksum_of(identity);
        for (unsigned shift = 64; shift > 0; shift -= 4) {
            result += digits[sum >> (shift - 4) & 15U];
        }
        return result + ".cache";
    }

private:
    enum class Origin : unsigned char { unchecked, file, process };
    struct Choice {
        std::string bytes;
        Origin origin = Origin::unchecked;
    };

    CacheCounter& counts_ = cache_counts().of("tuning");
    std::string identity_;
    std::filesystem::path path_;
    std::map<std::string, Choice, std::less<>> choices_;
    std::set<std::string, std::less<>> refused_;
    bool is_unsaved_ = false;
    TuningCacheReport report_;
};

}  // namespace totograph
