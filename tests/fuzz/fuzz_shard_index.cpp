// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/shard_index.hpp>

#include "require.hpp"

using fuzz::require;

/// Reads the bytes as an index of shards. What is accepted names files beside the index alone.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace io = totograph::io;
    const std::vector<char> text(reinterpret_cast<const char*>(data), reinterpret_cast<const char*>(data) + size);
    try {
        const io::ShardIndex index = io::parse_shard_index(std::string_view(text.data(), text.size()), "fuzz.json");
        const std::vector<std::string> names = io::shard_names(index);
        require(!index.empty() && !names.empty() && names.size() <= index.size() && names.size() <= io::most_shards);
        for (const std::string& name : names) {
            require(!name.empty() && name != "." && name != "..");
            require(name.find_first_of(std::string_view("/\0", 2)) == std::string::npos);
        }
    } catch (const totograph::Error& error) {
        fuzz::require_harmless(error, totograph::ErrorCode::invalid_file);
    }
    return 0;
}
