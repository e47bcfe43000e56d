// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/checkpoint/shard_index.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::vector<std::string> shard_names(const ShardIndex& index) {
    std::vector<std::string> names;
    for (const auto& [tensor, file] : index) {
        names.push_back(file);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

TOTOGRAPH_INLINE ShardIndex parse_shard_index(std::string_view text, std::string_view file_name) {
    const std::string where = "The index " + in_quotes(file_name, longest_quote);
    const auto fail = [&](const std::string& what) { throw Error(ErrorCode::invalid_file, where + " " + what); };
    const JsonValue document = parse_json(text, where);
    const JsonValue* const found = document.find("weight_map");
    if (found == nullptr || !found->is_object()) {
        fail("has no object 'weight_map', which tells the file of each tensor; it is no index of safetensors files.");
    }
    ShardIndex index;
    for (const JsonValue& item : found->items()) {
        if (item.string() == nullptr) {
            fail("names no file for the tensor " + in_quotes(item.name()) + ": a string was expected.");
        }
        const std::string& name = *item.string();
        const bool is_beside = !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
                               name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
        if (!is_beside) {
            fail("names the file " + in_quotes(name) + " for the tensor " + in_quotes(item.name()) +
                 "; the name of a file beside the index was expected.");
        }
        index.emplace(item.name(), name);
    }
    if (index.empty()) {
        fail("names no tensors.");
    }
    if (const std::size_t shards = shard_names(index).size(); shards > most_shards) {
        fail("names " + std::to_string(shards) + " files; at most " + std::to_string(most_shards) + " are read.");
    }
    return index;
}

}  // namespace totograph::io
