// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <totograph/io/checkpoint/shard_index.hpp>

namespace totograph::io {

/// The files of a checkpoint.
struct CheckpointFiles {
    std::vector<std::string> weights;  ///< Safetensors files: one, or shards in the order of their names.
    ShardIndex shards;                 ///< Which shard each tensor is in; empty when there is one file.
    std::string index;                 ///< Where `shards` stands; empty when there is one file.
    std::string config;                ///< `config.json`; empty when there is none.
    std::vector<std::size_t> parts{};  ///< How many weights each part has; empty for a model in one part.
};

/// Finds the files of a checkpoint. `named` is
/// - a folder with `model.safetensors`; or with `model.safetensors.index.json` and the shards that it names; or with
///   one `*.safetensors` of another name;
/// - a model's folder in a Hugging Face cache (`models--ORG--NAME`), whose `refs/main` tells the snapshot;
/// - a safetensors file of any name, an index, or a `config.json` beside them.
///
/// `config.json` is looked for beside the weights. Where there is no `config.json`, the weights are opened to see
/// whether they are something else. Throws `Error(file_not_found)` with what was there instead, and
/// `Error(invalid_file)` for a file that is something else.
CheckpointFiles find_checkpoint(const std::string& named);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/checkpoint_files.hpp>
#endif
