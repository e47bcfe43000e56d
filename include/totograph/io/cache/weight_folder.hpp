// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/text.hpp>

// Folders of weight files: ROOT/SET/FILE.weight. SET and FILE are sixteen hexadecimal digits, and nothing that has
// another name is ever touched.

namespace totograph::io {

/// A name for a set or a file: a hash of what identifies it.
inline std::string weight_name(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::uint64_t sum = checksum_of(text);
    std::string name;
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        name += digits[sum >> (shift - 4) & 15U];
    }
    return name;
}

/// How much disk weight files may take.
struct WeightFolderLimits {
    std::uintmax_t most_bytes = std::uintmax_t{16} << 30U;  ///< All files of all sets together.
    std::uintmax_t free_bytes = std::uintmax_t{1} << 30U;   ///< What stays free on the disk.
};

/// All sets below one root, for one that files are added to.
class WeightFolder {
public:
    WeightFolder() = default;
    WeightFolder(std::filesystem::path root, const std::string& set, WeightFolderLimits limits)
        : root_(std::move(root)), set_(root_ / set), limits_(limits) {}

    [[nodiscard]] const std::filesystem::path& set() const noexcept { return set_; }
    [[nodiscard]] std::filesystem::path file(std::string_view name) const {
        return set_ / (std::string(name) + std::string(ending));
    }

    /// Notes that the set is in use. The sets that were not for longest are the first to go.
    void mark_used() {
        if (!std::exchange(is_marked_, true)) {
            std::error_code ignored;
            std::filesystem::last_write_time(set_, std::filesystem::file_time_type::clock::now(), ignored);
        }
    }

    /// Makes the folder of the set, and room for so many bytes more: removes other sets where the limits ask for it.
    /// Returns why there is none, as a sentence; empty when there is. Never throws for what is wrong with the folder.
    std::string make_room(std::uintmax_t bytes) {
        if (const std::error_code failed = make_own_folders(set_)) {
            return "The folder " + in_quotes(set_.string(), longest_quote) + " cannot be made: " + failed.message() +
                   ".";
        }
        if (std::string distrusted = distrusted_folder(set_); !distrusted.empty()) {
            return distrusted;  // no process would read what is put there
        }
        mark_used();
        if (!std::exchange(is_counted_, true)) {
            total_ = bytes_of(find_sets());
        }
        if (!has_room(bytes)) {
            make_room_of_others(bytes);
        }
        if (!has_room(bytes)) {
            return "Weights of " + std::to_string(bytes) + " bytes are not kept in " +
                   in_quotes(root_.string(), longest_quote) + ", which holds " + std::to_string(total_) + " of " +
                   std::to_string(limits_.most_bytes) + " bytes; its disk has " + std::to_string(available()) +
                   " bytes left, of which " + std::to_string(limits_.free_bytes) + " stay free.";
        }
        total_ += bytes;
        return {};
    }

private:
    static constexpr std::string_view ending = ".weight";
    static constexpr std::size_t name_size = 16;
    /// A writer that takes longer is one that has died.
    static constexpr std::chrono::hours longest_write{1};

    struct Set {
        std::filesystem::path folder;
        std::filesystem::file_time_type used;
        std::vector<std::filesystem::path> files;
        std::uintmax_t bytes = 0;
    };

    static std::uintmax_t bytes_of(const std::vector<Set>& sets) {
        std::uintmax_t bytes = 0;
        for (const Set& set : sets) {
            bytes += set.bytes;
        }
        return bytes;
    }

    /// What follows the digits of a name; the whole name when it is none of ours.
    static std::string after_digits(const std::filesystem::path& path) {
        const std::string name = path.filename().string();
        const std::size_t digits = std::min(name.find_first_not_of("0123456789abcdef"), name.size());
        return digits == name_size ? name.substr(digits) : name;
    }

    template <class Visit>
    static void for_each_entry(const std::filesystem::path& folder, Visit&& visit) {
        std::error_code failed;
        std::filesystem::directory_iterator entry(folder, failed);
        for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
            visit(*entry);
        }
    }

    [[nodiscard]] std::vector<Set> find_sets() const {
        std::vector<Set> sets;
        const auto now = std::filesystem::file_time_type::clock::now();
        for_each_entry(root_, [&](const std::filesystem::directory_entry& entry) {
            const std::filesystem::path& folder = entry.path();
            std::error_code failed;
            // What a link leads to is not ours.
            if (!after_digits(folder).empty() || !std::filesystem::is_directory(entry.symlink_status(failed))) {
                return;
            }
            Set set{folder, std::filesystem::last_write_time(folder, failed), {}, 0};
            for_each_entry(folder, [&](const std::filesystem::directory_entry& inside) {
                const std::filesystem::path& file = inside.path();
                const std::string rest = after_digits(file);
                const bool is_half = rest.starts_with(std::string(ending) + ".tmp-");
                std::error_code missing;
                if ((rest != ending && !is_half) || !std::filesystem::is_regular_file(inside.symlink_status(missing))) {
                    return;
                }
                const auto changed = std::filesystem::last_write_time(file, missing);
                if (is_half && !missing && changed + longest_write < now) {
                    std::filesystem::remove(file, missing);
                    return;
                }
                const std::uintmax_t bytes = std::filesystem::file_size(file, missing);
                set.bytes += missing ? 0 : bytes;
                set.files.push_back(file);
            });
            sets.push_back(std::move(set));
        });
        return sets;
    }

    /// Processes that have mapped the files keep them until they end.
    void remove(const Set& set) {
        std::error_code ignored;
        for (const std::filesystem::path& file : set.files) {
            std::filesystem::remove(file, ignored);
        }
        std::filesystem::remove(set.folder, ignored);  // which stays when something else is in it
        total_ -= std::min(total_, set.bytes);
    }

    /// Removes other sets, those that were not used for longest first; none when that would not be enough.
    void make_room_of_others(std::uintmax_t bytes) {
        std::vector<Set> sets = find_sets();
        total_ = bytes_of(sets);
        std::erase_if(sets, [&](const Set& set) { return set.folder == set_; });
        if (!has_room(bytes, bytes_of(sets))) {
            return;
        }
        // A sort of paths is much code for the few sets that there are.
        while (!sets.empty() && !has_room(bytes)) {
            const auto oldest =
                std::min_element(sets.begin(), sets.end(), [](const Set& a, const Set& b) { return a.used < b.used; });
            remove(*oldest);
            sets.erase(oldest);
        }
    }

    /// Bytes left on the disk; no limit when nobody knows.
    [[nodiscard]] std::uintmax_t available() const {
        std::error_code failed;
        const std::filesystem::space_info space = std::filesystem::space(set_, failed);
        return failed ? std::numeric_limits<std::uintmax_t>::max() / 2 : space.available;
    }

    /// Whether so many bytes are within the limits when `freed` others are gone.
    [[nodiscard]] bool has_room(std::uintmax_t bytes, std::uintmax_t freed = 0) const {
        return total_ + bytes <= limits_.most_bytes + freed && limits_.free_bytes + bytes <= available() + freed;
    }

    std::filesystem::path root_;
    std::filesystem::path set_;
    WeightFolderLimits limits_;
    std::uintmax_t total_ = 0;
    bool is_marked_ = false;
    bool is_counted_ = false;
};

}  // namespace totograph::io
