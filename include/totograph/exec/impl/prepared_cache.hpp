// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/prepared_cache.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/cache/checksum.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/cache/weight_file.hpp>
#include <totograph/io/cache/weight_folder.hpp>
#include <totograph/version.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::string describe_preparation(std::size_t bytes, std::chrono::steady_clock::time_point begin,
                                                  const PreparedCacheReport& report) {
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    return "prepared " + detail::bytes_text(bytes) + " of weights in " + detail::number_text(taken.count(), 3) +
           " ms: " + to_string(report);
}

TOTOGRAPH_INLINE PreparedCache::PreparedCache(const io::CacheFolder& folder, const TensorSource& source,
                                              std::string_view layout, io::WeightFolderLimits limits) {
    if (folder.path.empty()) {
        report_.reason = folder.missing;
        return;
    }
    const std::string root = (std::filesystem::path(folder.path) / "weights").string();
    for (const std::string& above : {folder.path, root}) {
        std::error_code unknown;  // what cannot be looked at cannot be made either, and then says so
        if (std::filesystem::is_directory(above, unknown)) {
            report_.reason = io::distrusted_folder(above);
        }
        if (!report_.reason.empty()) {
            return;  // who may write there can put another folder of this user in the place of the set's
        }
    }
    const std::string source_identity = source.identity();
    if (source_identity.empty()) {
        report_.reason = "The weights come from no file, or from one that was changed just now.";
        return;
    }
    identity_ = "totograph " + std::string(version) + "\ncompiler " + std::string(compiler) + "\nlayout " +
                std::string(layout) + "\n" + source_identity;
    folder_ = io::WeightFolder(root, io::checksum_text(identity_), limits);
    report_.folder = folder_.set();
}

TOTOGRAPH_INLINE PreparedCache::Block PreparedCache::find(const std::string& expression, std::size_t bytes,
                                                          Team& team) {
    io::WeightFile found =
        io::read_weight_file(folder_.file(io::checksum_text(expression)), identity_ + expression, bytes, OnTeam{team});
    CacheCounter& counts = cache_counts().of("weights");
    if (found.owner) {
        ++report_.hits;
        counts.add_hits();
        folder_.mark_used();
        return {std::move(found.owner), found.block};
    }
    ++report_.misses;
    counts.add_misses();
    if (!found.ignored.empty()) {
        ++report_.ignored;
        report_.reason = found.ignored;
        counts.add_ignored(found.ignored);
    }
    return {};
}

TOTOGRAPH_INLINE void PreparedCache::keep(const std::string& expression, std::span<const std::byte> bytes, Team& team) {
    if (!report_.not_written.empty()) {
        return;
    }
    const std::string identity = identity_ + expression;
    report_.not_written = folder_.make_room(io::weight_file_bytes(identity, bytes.size()));
    if (!report_.not_written.empty()) {
        return;
    }
    try {
        io::write_weight_file(folder_.file(io::checksum_text(expression)), identity, bytes, OnTeam{team});
    } catch (const Error& error) {
        report_.not_written = error.what();
    }
}

}  // namespace totograph
