// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace totograph::io {

/// Which file of a checkpoint in several files (shards) holds each tensor: names of tensors, and of files beside the
/// index.
using ShardIndex = std::map<std::string, std::string>;

/// The most files that an index may name.
inline constexpr std::size_t most_shards = 1000;

/// The names of the shards, in order, each once.
std::vector<std::string> shard_names(const ShardIndex& index);

/// Reads the text of a `model.safetensors.index.json`: a JSON object whose `weight_map` maps tensors to files. The
/// names lead nowhere but to files beside the index.
///
/// `file_name` is what messages call the index. Throws `Error(invalid_file)`.
ShardIndex parse_shard_index(std::string_view text, std::string_view file_name);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/shard_index.hpp>
#endif
