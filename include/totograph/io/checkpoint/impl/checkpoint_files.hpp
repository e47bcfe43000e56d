// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/checkpoint/checkpoint_files.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/checkpoint/foreign_file.hpp>
#include <totograph/io/checkpoint/shard_index.hpp>
#include <totograph/io/random_access_file.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/text_file.hpp>

namespace totograph::io {
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

TOTOGRAPH_INLINE CheckpointFiles CheckpointSearch::run() const {
    switch (type_of(named_)) {
        case Type::directory: return in_folder(named_);
        case Type::not_found:
            if (is_link(named_)) {
                fail_for_link(named_);
            }
            fail(ErrorCode::file_not_found,
                 "There is no checkpoint at " + in_quotes(named_.string(), longest_quote) +
                     ": nothing has that name. Name a folder that holds model.safetensors, or such a file" +
                     (named_.string().starts_with('~') ? "; write the path of the home folder in full: a shell "
                                                         "replaces '~' only where it begins an unquoted word."
                                                       : "; tools/get_checkpoint downloads one from the hub."));
        default: return of_file(named_);
    }
}

TOTOGRAPH_INLINE void CheckpointSearch::fail_for_link(const Path& link) {
    std::error_code failed;
    const Path target = std::filesystem::read_symlink(link, failed);
    fail(ErrorCode::file_not_found,
         "The link " + in_quotes(link.string(), longest_quote) + " leads to " +
             in_quotes(target.string(), longest_quote) +
             ", which is not there. Copy a folder with what its links lead to (cp -rL), and the folder of a hub's "
             "cache as a whole; or download the file again.");
}

TOTOGRAPH_INLINE CheckpointSearch::Type CheckpointSearch::type_of(const Path& path) {
    std::error_code failed;
    const Type type = std::filesystem::status(path, failed).type();
    if (type == Type::none) {
        fail(ErrorCode::file_not_found,
             "The path " + in_quotes(path.string(), longest_quote) + " cannot be examined: " + failed.message() + ".");
    }
    return type;
}

TOTOGRAPH_INLINE bool CheckpointSearch::has(const Path& path) {
    const Type type = type_of(path);
    if (type == Type::not_found && is_link(path)) {
        fail_for_link(path);
    }
    return type != Type::not_found && type != Type::directory;
}

TOTOGRAPH_INLINE std::vector<CheckpointSearch::Path> CheckpointSearch::entries(const Path& folder) {
    std::vector<Path> found;
    std::error_code failed;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        found.push_back(entry->path());
    }
    if (failed) {
        fail(ErrorCode::file_not_found, "The folder " + in_quotes(folder.string(), longest_quote) +
                                            " cannot be listed: " + failed.message() + ".");
    }
    std::sort(found.begin(), found.end());
    return found;
}

TOTOGRAPH_INLINE std::string CheckpointSearch::names_sentence(const std::vector<Path>& entries) {
    constexpr std::size_t most = 4;
    std::string text = entries.empty() ? "It is empty" : "It holds ";
    for (std::size_t i = 0; i < std::min(entries.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + shown_name(entries[i]);
    }
    return text + (entries.size() > most ? " and " + std::to_string(entries.size() - most) + " more." : ".");
}

TOTOGRAPH_INLINE CheckpointFiles CheckpointSearch::in_folder(const Path& named) {
    const bool has_weights = has(named / weights_name) || has(named / index_name);
    const bool is_cache = !has_weights && type_of(named / "snapshots") == Type::directory;
    const Path folder = is_cache ? snapshot_of(named) : named;
    if (has(folder / weights_name)) {
        return one(folder / weights_name);
    }
    if (has(folder / index_name)) {
        return of_index(folder / index_name);
    }
    return one(only_file(folder));
}

TOTOGRAPH_INLINE CheckpointSearch::Path CheckpointSearch::only_file(const Path& folder) {
    std::vector<Path> candidates;
    std::vector<Path> others;
    std::vector<Path> caches;
    const std::vector<Path> all = entries(folder);
    for (const Path& path : all) {
        const std::string ending = path.extension().string();
        if (path.filename().string().starts_with("._")) {
            continue;  // macOS keeps metadata in '._NAME' on file systems that have no place for it
        }
        if (ending == ".safetensors") {
            candidates.push_back(path);
        } else if (ending == ".ckpt" || ending == ".bin" || ending == ".pt" || ending == ".pth") {
            others.push_back(path);
        } else if (path.filename().string().starts_with("models--")) {
            caches.push_back(path);
        }
    }
    const std::string name = in_quotes(folder.string(), longest_quote);
    if (!candidates.empty()) {
        require_whole(candidates[0]);
    }
    if (candidates.size() == 1) {
        return candidates[0];
    }
    if (candidates.size() > 1) {
        fail(ErrorCode::file_not_found, "The folder " + name + " holds " + std::to_string(candidates.size()) +
                                            " safetensors files, such as " + shown_name(candidates[0]) +
                                            ", but neither model.safetensors nor model.safetensors.index.json. "
                                            "Name the one that is the checkpoint.");
    }
    if (!others.empty()) {
        fail(ErrorCode::file_not_found, "The folder " + name + " holds " + shown_name(others[0]) +
                                            ", which torch wrote, and no model.safetensors. Convert it with "
                                            "tools/convert_checkpoint.py.");
    }
    if (!caches.empty()) {
        fail(ErrorCode::file_not_found, "The folder " + name +
                                            " is a cache of a hub. Name the model's folder in "
                                            "it, such as " +
                                            shown_name(caches[0]) + ".");
    }
    fail(ErrorCode::file_not_found,
         "The folder " + name + " holds neither model.safetensors nor model.safetensors.index.json. " +
             names_sentence(all) + " Name the folder of a checkpoint; tools/get_checkpoint downloads one.");
}

TOTOGRAPH_INLINE void CheckpointSearch::require_whole(const Path& weights) {
    constexpr std::string_view form = "-00000-of-00000";  // each 0 is any digit
    const std::string name = weights.stem().string();
    const std::string ending = name.substr(name.size() - std::min(name.size(), form.size()));
    const auto is_like = [](char found, char wanted) {
        return wanted == '0' ? found >= '0' && found <= '9' : found == wanted;
    };
    if (!std::equal(ending.begin(), ending.end(), form.begin(), form.end(), is_like)) {
        return;
    }
    const std::string shards = ending.substr(std::min(ending.find_first_not_of('0', form.size() - 5), ending.size()));
    if (shards.empty() || shards == "1") {
        return;
    }
    fail(ErrorCode::file_not_found, "The file " + in_quotes(weights.string(), longest_quote) + " is one of the " +
                                        shards + " shards of a checkpoint, and no " + std::string(index_name) +
                                        " beside it names it. Download that index and all shards and name their "
                                        "folder; or name the index, if it has another name.");
}

TOTOGRAPH_INLINE CheckpointSearch::Path CheckpointSearch::snapshot_of(const Path& cache) {
    const Path reference = cache / "refs" / "main";
    if (has(reference)) {
        std::string commit = read_regular_text_file(reference, 1000);
        commit.erase(commit.find_last_not_of(" \t\r\n") + 1);
        const bool is_name = !commit.empty() && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
        Path snapshot = cache / "snapshots" / (is_name ? commit : std::string("?"));
        if (!is_name || type_of(snapshot) != Type::directory) {
            fail(ErrorCode::file_not_found, "The cache folder " + in_quotes(cache.string(), longest_quote) +
                                                " names the snapshot " + in_quotes(commit) +
                                                " in refs/main, but holds no such one: the download was not "
                                                "finished. Download the checkpoint again.");
        }
        return snapshot;
    }
    const std::vector<Path> all = entries(cache / "snapshots");
    if (all.size() != 1) {
        fail(ErrorCode::file_not_found, "The cache folder " + in_quotes(cache.string(), longest_quote) + " holds " +
                                            std::to_string(all.size()) +
                                            " snapshots and no refs/main that points one out. Name one of the "
                                            "folders in 'snapshots'.");
    }
    return all[0];
}

TOTOGRAPH_INLINE CheckpointFiles CheckpointSearch::of_file(const Path& file) {
    const std::string name = file.filename().string();
    if (name == config_name) {
        return in_folder(file.parent_path());
    }
    // Of a variant it is 'model.safetensors.index.fp16.json'.
    if (name.ends_with(".json") && name.find(".index.") != std::string::npos) {
        return of_index(file);
    }
    // One shard alone is not the checkpoint that it is part of.
    const Path index = file.parent_path() / index_name;
    if (name != weights_name && has(index)) {
        CheckpointFiles files = of_index(index);
        const auto is_file = [&](const Path& shard) { return shard == file; };
        if (std::any_of(files.weights.begin(), files.weights.end(), is_file)) {
            return files;
        }
    }
    require_whole(file);
    return one(file);
}

TOTOGRAPH_INLINE CheckpointFiles CheckpointSearch::one(const Path& weights) {
    if (weights.filename() == adapter_name) {
        fail(ErrorCode::invalid_file, "The file " + in_quotes(weights.string(), longest_quote) + " is " +
                                          std::string(adapter_and_advice) + ", save that, and name its folder.");
    }
    require_downloaded(weights);
    CheckpointFiles files;
    files.weights.push_back(weights.string());
    files = with_config(std::move(files));
    if (files.config.empty()) {
        refuse_foreign(RandomAccessFile(weights), foreign_content_of_safetensors);
    }
    return files;
}

TOTOGRAPH_INLINE void CheckpointSearch::require_downloaded(const Path& weights) {
    Path control = weights;
    control += ".aria2";
    std::error_code ignored;
    if (std::filesystem::exists(control, ignored)) {
        fail(ErrorCode::invalid_file,
             "The file " + in_quotes(weights.string(), longest_quote) + " is not whole: aria2, which keeps " +
                 shown_name(control) +
                 " until it is, has not finished its download. Wait for it, or continue it with aria2c -c.");
    }
}

TOTOGRAPH_INLINE CheckpointFiles CheckpointSearch::of_index(const Path& index) {
    refuse_foreign(RandomAccessFile(index), foreign_content);
    CheckpointFiles files;
    files.index = index.string();
    files.shards = parse_shard_index(read_regular_text_file(index, largest_index), index.string());
    for (const std::string& name : shard_names(files.shards)) {
        const Path shard = index.parent_path() / name;
        if (!has(shard)) {
            fail(ErrorCode::file_not_found, "The file " + in_quotes(shard.string(), longest_quote) +
                                                " is not there, but " + shown_name(index) +
                                                " names it as a part of the checkpoint. Download it as well.");
        }
        require_downloaded(shard);
        files.weights.push_back(shard.string());
    }
    return with_config(std::move(files));
}

TOTOGRAPH_INLINE CheckpointFiles CheckpointSearch::with_config(CheckpointFiles files) {
    if (const Path config = Path(files.weights[0]).parent_path() / config_name; has(config)) {
        refuse_foreign(RandomAccessFile(config), foreign_content);
        files.config = config.string();
    }
    return files;
}

}  // namespace detail

TOTOGRAPH_INLINE CheckpointFiles find_checkpoint(const std::string& named) {
    return detail::CheckpointSearch(named).run();
}

}  // namespace totograph::io
