// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/exec/prepared_cache_report.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/cache/weight_file.hpp>
#include <totograph/io/cache/weight_folder.hpp>

namespace totograph {

/// A line for a log: how many bytes of weights have been prepared since `begin`, and what became of them on disk.
std::string describe_preparation(std::size_t bytes, std::chrono::steady_clock::time_point begin,
                                 const PreparedCacheReport& report);

/// Prepared weights of one checkpoint in one layout, on disk for other processes, which map them and share the memory.
///
/// A file each: `FOLDER/weights/SET/EXPRESSION.weight`, in which SET and EXPRESSION are hashes; what they are hashes of
/// stands in the file and must be the same. What is kept has been checked to come of finite weights; files, which only
/// their owner can write, are not checked again. Anything that is wrong with a file or the folder costs time, nothing
/// else. One thread at a time may use it.
class PreparedCache {
public:
    /// Smaller weights are prepared as fast as they are mapped.
    static constexpr std::size_t least_bytes = std::size_t{64} << 10U;

    /// A block of bytes, and what keeps it in its place.
    struct Block {
        std::shared_ptr<const void> owner;  ///< Null when there is no block.
        std::span<const std::byte> bytes;
    };

    /// Looks for nothing and keeps nothing.
    PreparedCache() = default;

    /// `layout` is all that the bytes depend on beside the checkpoint and the expression: types, widths of vectors.
    /// Without a folder or an identity of the source (`TensorSource::identity`) nothing is looked for, and nothing
    /// kept; nor where others may write to the folder, or to its `weights`.
    PreparedCache(const io::CacheFolder& folder, const TensorSource& source, std::string_view layout,
                  io::WeightFolderLimits limits = {});

    /// Whether a prepared weight of so many bytes is looked for.
    [[nodiscard]] bool keeps(const WeightExpression& expression, std::size_t bytes) const {
        return !identity_.empty() && expression.is_lasting() && bytes >= least_bytes;
    }

    /// The block that was kept for an expression, if there is one that can be used.
    Block find(const std::string& expression, std::size_t bytes, Team& team);

    /// Keeps a block for other processes. What goes wrong is told by the report, and then nothing more is kept.
    void keep(const std::string& expression, std::span<const std::byte> bytes, Team& team);

    [[nodiscard]] const PreparedCacheReport& report() const noexcept { return report_; }

private:
    /// Another one may round a sum of products in another way.
#ifdef __VERSION__
    static constexpr std::string_view compiler = __VERSION__;
#else
    static constexpr std::string_view compiler = "unknown";
#endif

    /// What checks and sums up files in parts.
    struct OnTeam {
        Team& team;

        template <class Function>
        void operator()(std::size_t parts, Function&& function) const {
            team.for_each(static_cast<Index>(parts),
                          [&](Index part, int) { function(static_cast<std::size_t>(part)); });
        }
    };

    std::string identity_;
    io::WeightFolder folder_;
    PreparedCacheReport report_;
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/prepared_cache.hpp>
#endif
