// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/io/cache/cache_file.hpp>

#include "require.hpp"

using fuzz::require;

/// Reads the bytes behind the first as a cache file: as they are, or, where the first is odd, with a checksum that is
/// right, so that the sizes behind it are tried. What is accepted must be what its records are written as.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace totograph::io;
    if (size == 0) {
        return 0;
    }
    constexpr std::string_view identity = "fuzz";
    std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    if ((data[0] & 1U) != 0) {
        cache_detail::append(bytes, checksum_of(bytes));
    }
    CacheRecords records;
    const std::string wrong = cache_detail::read_records(bytes, identity, records);
    require(!wrong.empty() || cache_bytes(identity, records) == bytes);
    require(wrong.empty() || records.empty());
    return 0;
}
