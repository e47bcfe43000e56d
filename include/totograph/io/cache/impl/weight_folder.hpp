// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/cache/weight_folder.hpp>

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

#include <totograph/core/inline.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE WeightFolder::WeightFolder(std::string root, const std::string& set, WeightFolderLimits limits)
    : root_(std::move(root)), set_((std::filesystem::path(root_) / set).string()), limits_(limits) {}

TOTOGRAPH_INLINE std::string WeightFolder::file(std::string_view name) const {
    return (std::filesystem::path(set_) / (std::string(name) + std::string(ending))).string();
}

TOTOGRAPH_INLINE void WeightFolder::mark_used() {
    if (!std::exchange(is_marked_, true)) {
        std::error_code ignored;
        std::filesystem::last_write_time(set_, std::filesystem::file_time_type::clock::now(), ignored);
    }
}

TOTOGRAPH_INLINE std::string WeightFolder::make_room(std::uintmax_t bytes) {
    if (const std::error_code failed = make_own_folders(set_)) {
        return "The folder " + in_quotes(set_, longest_quote) + " cannot be made: " + failed.message() + ".";
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
        return "Weights of " + std::to_string(bytes) + " bytes are not kept in " + in_quotes(root_, longest_quote) +
               ", which holds " + std::to_string(total_) + " of " + std::to_string(limits_.most_bytes) +
               " bytes; its disk has " + std::to_string(available()) + " bytes left, of which " +
               std::to_string(limits_.free_bytes) + " stay free.";
    }
    total_ += bytes;
    return {};
}

namespace detail {

template <class Visit>
void for_each_entry(const std::filesystem::path& folder, Visit&& visit) {
    std::error_code failed;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        visit(*entry);
    }
}

}  // namespace detail

TOTOGRAPH_INLINE std::uintmax_t WeightFolder::bytes_of(const std::vector<Set>& sets) {
    std::uintmax_t bytes = 0;
    for (const Set& set : sets) {
        bytes += set.bytes;
    }
    return bytes;
}

TOTOGRAPH_INLINE std::string WeightFolder::after_digits(const std::string& path) {
    const std::string name = std::filesystem::path(path).filename().string();
    const std::size_t digits = std::min(name.find_first_not_of("0123456789abcdef"), name.size());
    return digits == name_size ? name.substr(digits) : name;
}

TOTOGRAPH_INLINE std::vector<WeightFolder::Set> WeightFolder::find_sets() const {
    constexpr std::chrono::hours longest_write{1};  // a writer that takes longer is one that has died
    std::vector<Set> sets;
    const auto now = std::filesystem::file_time_type::clock::now();
    detail::for_each_entry(root_, [&](const std::filesystem::directory_entry& entry) {
        const std::filesystem::path& folder = entry.path();
        std::error_code failed;
        // What a link leads to is not ours.
        if (!after_digits(folder).empty() || !std::filesystem::is_directory(entry.symlink_status(failed))) {
            return;
        }
        const auto used = std::filesystem::last_write_time(folder, failed).time_since_epoch();
        Set set{folder.string(), static_cast<std::int64_t>(used.count()), {}, 0};
        detail::for_each_entry(folder, [&](const std::filesystem::directory_entry& inside) {
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
            set.files.push_back(file.string());
        });
        sets.push_back(std::move(set));
    });
    return sets;
}

TOTOGRAPH_INLINE void WeightFolder::remove(const Set& set) {
    std::error_code ignored;
    for (const std::string& file : set.files) {
        std::filesystem::remove(file, ignored);
    }
    std::filesystem::remove(set.folder, ignored);  // which stays when something else is in it
    total_ -= std::min(total_, set.bytes);
}

TOTOGRAPH_INLINE void WeightFolder::make_room_of_others(std::uintmax_t bytes) {
    std::vector<Set> sets = find_sets();
    total_ = bytes_of(sets);
    std::erase_if(sets,
                  [&](const Set& set) { return std::filesystem::path(set.folder) == std::filesystem::path(set_); });
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

TOTOGRAPH_INLINE std::uintmax_t WeightFolder::available() const {
    std::error_code failed;
    const std::filesystem::space_info space = std::filesystem::space(set_, failed);
    return failed ? std::numeric_limits<std::uintmax_t>::max() / 2 : space.available;
}

}  // namespace totograph::io
