// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Folders of weight files: ROOT/SET/FILE.weight. SET and FILE are sixteen hexadecimal digits, such as `checksum_text`
// makes of what identifies them, and nothing that has another name is ever touched.

namespace totograph::io {

/// How much disk weight files may take.
struct WeightFolderLimits {
    std::uintmax_t most_bytes = std::uintmax_t{16} << 30U;  ///< All files of all sets together.
    std::uintmax_t free_bytes = std::uintmax_t{1} << 30U;   ///< What stays free on the disk.
};

/// All sets below one root, for one that files are added to.
class WeightFolder {
public:
    WeightFolder() = default;
    WeightFolder(std::string root, const std::string& set, WeightFolderLimits limits);

    [[nodiscard]] const std::string& set() const noexcept { return set_; }
    [[nodiscard]] std::string file(std::string_view name) const;

    /// Notes that the set is in use. The sets that were not for longest are the first to go.
    void mark_used();

    /// Makes the folder of the set, and room for so many bytes more: removes other sets where the limits ask for it.
    /// Returns why there is none, as a sentence; empty when there is. Never throws for what is wrong with the folder.
    std::string make_room(std::uintmax_t bytes);

private:
    static constexpr std::string_view ending = ".weight";
    static constexpr std::size_t name_size = 16;

    /// The files of one checkpoint.
    struct Set {
        std::string folder;
        std::int64_t used = 0;  ///< When, by the clock of files.
        std::vector<std::string> files;
        std::uintmax_t bytes = 0;
    };

    static std::uintmax_t bytes_of(const std::vector<Set>& sets);

    /// What follows the digits of a name; the whole name when it is none of ours.
    static std::string after_digits(const std::string& path);

    [[nodiscard]] std::vector<Set> find_sets() const;

    /// Processes that have mapped the files keep them until they end.
    void remove(const Set& set);

    /// Removes other sets, those that were not used for longest first; none when that would not be enough.
    void make_room_of_others(std::uintmax_t bytes);

    /// Bytes left on the disk; no limit when nobody knows.
    [[nodiscard]] std::uintmax_t available() const;

    /// Whether so many bytes are within the limits when `freed` others are gone.
    [[nodiscard]] bool has_room(std::uintmax_t bytes, std::uintmax_t freed = 0) const {
        return total_ + bytes <= limits_.most_bytes + freed && limits_.free_bytes + bytes <= available() + freed;
    }

    std::string root_;
    std::string set_;
    WeightFolderLimits limits_;
    std::uintmax_t total_ = 0;
    bool is_marked_ = false;
    bool is_counted_ = false;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/cache/impl/weight_folder.hpp>
#endif
