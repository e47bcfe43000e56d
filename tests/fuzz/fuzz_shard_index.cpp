// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "totograph/core/error.hpp"
#include "totograph/io/shard_index.hpp"

/// Reads the bytes as the index of a checkpoint in several files. Whatever is accepted names files beside it alone.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::string text(reinterpret_cast<const char*>(data), size);
        const auto index = totograph::io::parse_shard_index(text, "fuzz.index.json");
        const auto names = totograph::io::shard_names(index);
        if (index.empty() || names.empty() || names.size() > totograph::io::most_shards) {
            std::abort();
        }
        for (const std::string& name : names) {
            if (name.empty() || name == ".." || name.find('/') != std::string::npos) {
                std::abort();
            }
        }
    } catch (const totograph::Error& error) {
        if (error.code() != totograph::ErrorCode::invalid_file) {
            std::abort();
        }
    }
    return 0;
}
