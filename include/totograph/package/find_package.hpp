// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>
#include <totograph/package/package_header.hpp>

namespace totograph {

namespace package::detail {

/// Whether the numbers of a packaged model are those of a checkpoint. Some of them the checkpoint may leave out; most
/// it has, or it is of another kind. What opens it compares everything.
inline bool has_numbers_of(const PackageHeader::Model& model, const io::ModelConfig& file) {
    const io::JsonValue config = io::parse_json(model.config, "The configuration of '" + model.name + "'");
    int compared = 0;
    int left_out = 0;
    for (const io::JsonValue& field : config.items()) {
        if (!field.number()) {
            continue;
        }
        if (!file.contains(field.name()) || file.is_null(field.name())) {
            ++left_out;
        } else if (file.number(field.name()) != *field.number()) {
            return false;
        } else {
            ++compared;
        }
    }
    return compared > left_out;
}

/// Why a package does not serve a checkpoint here, as a sentence; empty when it does.
inline std::string reason_against(const std::filesystem::path& path, const io::ModelConfig& file,
                                  std::string_view device) {
    try {
        const PackageHeader header = read_package_header(path);
        if (header.device != device) {
            return "The package " + io::in_quotes(path.string(), io::longest_quote) + " is for " +
                   io::printable(header.device, 40) + ".";
        }
        if (std::none_of(header.models.begin(), header.models.end(),
                         [&](const PackageHeader::Model& model) { return has_numbers_of(model, file); })) {
            return "The package " + io::in_quotes(path.string(), io::longest_quote) + " has another model.";
        }
        check_package_header(header);
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace package::detail

/// The file of a folder (`*.so`) that is a package for a kind of devices (`cpu` or `cuda`) and this machine's
/// processor, and of the model of a checkpoint, by its `config.json`; of several the last by name, so that
/// `demo.x86-64-v4.so` goes before `demo.x86-64-v3.so`. Headers are read as data: nothing is loaded. Throws
/// `Error(file_not_found)` with what speaks against each file, and for a checkpoint without a `config.json`.
inline std::filesystem::path find_package(const std::filesystem::path& folder, const std::filesystem::path& checkpoint,
                                          std::string_view device = "cpu") {
    const std::string where = io::in_quotes(folder.string(), io::longest_quote);
    const std::string of = io::in_quotes(checkpoint.string(), io::longest_quote);
    const std::filesystem::path config = io::find_checkpoint(checkpoint).config;
    if (config.empty()) {
        throw Error(ErrorCode::file_not_found, "The checkpoint " + of +
                                                   " has no config.json, by which its package is " + "found in " +
                                                   where + ". Name the package itself.");
    }
    std::vector<std::filesystem::path> files;
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        if (entry->path().extension() == ".so") {
            files.push_back(entry->path());
        }
    }
    std::sort(files.begin(), files.end(), std::greater<>());
    const io::ModelConfig file(config);
    std::string reasons;
    for (const std::filesystem::path& path : files) {
        const std::string reason = package::detail::reason_against(path, file, device);
        if (reason.empty()) {
            return path;
        }
        reasons += " " + reason;
    }
    throw Error(ErrorCode::file_not_found, "The folder " + where + " holds no package for the checkpoint " + of +
                                               " on " + std::string(device) + "." + reasons +
                                               " Build one with totograph-package.");
}

}  // namespace totograph
