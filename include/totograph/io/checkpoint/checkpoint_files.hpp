// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/shard_index.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

/// The files of a checkpoint.
struct CheckpointFiles {
    std::vector<std::filesystem::path> weights;  ///< Safetensors files: one, or shards in the order of their names.
    ShardIndex shards;                           ///< Which shard each tensor is in; empty when there is one file.
    std::filesystem::path index;                 ///< Where `shards` stands; empty when there is one file.
    std::filesystem::path config;                ///< `config.json`; empty when there is none.
    std::vector<std::size_t> parts{};            ///< How many weights each part has; empty for a model in one part.
};

namespace detail {

/// Looks for the files of a checkpoint in what a person may call one. See `find_checkpoint`.
class CheckpointSearch {
public:
    explicit CheckpointSearch(std::filesystem::path named) : named_(std::move(named)) {}

    [[nodiscard]] CheckpointFiles run() const;

private:
    using Path = std::filesystem::path;
    using Type = std::filesystem::file_type;

    static constexpr std::string_view weights_name = "model.safetensors";
    static constexpr std::string_view index_name = "model.safetensors.index.json";
    static constexpr std::string_view config_name = "config.json";
    static constexpr std::string_view adapter_name = "adapter_model.safetensors";
    static constexpr std::size_t largest_index = std::size_t{64} << 20U;

    [[noreturn]] static void fail(ErrorCode code, const std::string& message) { throw Error(code, message); }

    [[noreturn]] static void fail_for_link(const Path& link);

    /// What is at a path, links followed. Throws `Error(file_not_found)` when the system does not let it be looked at.
    static Type type_of(const Path& path);

    static bool is_link(const Path& path) {
        std::error_code failed;
        return std::filesystem::symlink_status(path, failed).type() == Type::symlink;
    }

    /// Whether there is such a file. Throws `Error` for a link to nothing.
    static bool has(const Path& path);

    /// What is in a folder, in order.
    static std::vector<Path> entries(const Path& folder);

    /// A sentence with the first few names of what is in a folder.
    static std::string names_sentence(const std::vector<Path>& entries);

    static CheckpointFiles in_folder(const Path& named);

    /// The one safetensors file of a folder that has none of the usual name. Throws `Error` with what there is instead.
    static Path only_file(const Path& folder);

    /// Throws `Error` for one of several shards, by the form of the hub's names (`NAME-00001-of-00002.safetensors`):
    /// whoever asks has looked for an index that names it.
    static void require_whole(const Path& weights);

    static std::string shown_name(const Path& path) { return in_quotes(path.filename().string(), longest_quote); }

    /// The snapshot that a model's folder of a Hugging Face cache (`models--ORG--NAME`) points out: the one of
    /// `refs/main`, or the only one.
    static Path snapshot_of(const Path& cache);

    static CheckpointFiles of_file(const Path& file);

    static CheckpointFiles one(const Path& weights);

    /// Throws `Error` for a file that aria2 has made room for and not yet filled: its length tells nothing.
    static void require_downloaded(const Path& weights);

    static CheckpointFiles of_index(const Path& index);

    static CheckpointFiles with_config(CheckpointFiles files);

    Path named_;
};

}  // namespace detail

/// Finds the files of a checkpoint. `named` is
/// - a folder with `model.safetensors`; or with `model.safetensors.index.json` and the shards that it names; or with
///   one `*.safetensors` of another name;
/// - a model's folder in a Hugging Face cache (`models--ORG--NAME`), whose `refs/main` tells the snapshot;
/// - a safetensors file of any name, an index, or a `config.json` beside them.
///
/// `config.json` is looked for beside the weights. Where there is no `config.json`, the weights are opened to see
/// whether they are something else. Throws `Error(file_not_found)` with what was there instead, and
/// `Error(invalid_file)` for a file that is something else.
inline CheckpointFiles find_checkpoint(const std::filesystem::path& named) {
    return detail::CheckpointSearch(named).run();
}

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/checkpoint_files.hpp>
#endif
