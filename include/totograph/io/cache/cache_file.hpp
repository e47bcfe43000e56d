// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <totograph/io/cache/checksum.hpp>

// A small file of records that saves time and nothing else: whatever is wrong with it, it counts as empty.
//
// All numbers are little-endian. 8 bytes of magic; u32 format; u32 size of the identity, and the identity; u32 number
// of records; for each, u32 size of the key, u32 size of the value, the key, the value, in ascending order of the keys;
// u64 checksum of everything before.

namespace totograph::io {

/// Records by key; keys and values are any bytes, keys at least one.
using CacheRecords = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view cache_magic = "\x89tgcache";
inline constexpr std::uint32_t cache_format = 1;
/// The largest file that is read or written, in bytes.
inline constexpr std::size_t most_cache_bytes = std::size_t{4} << 20U;

/// What a cache file holds.
struct CacheContent {
    CacheRecords records;
    bool exists = false;
    std::string ignored;  ///< Why the file counts as empty, as a sentence; empty when it was read, or there is none.
};

namespace cache_detail {

template <class Number>
void append(std::string& to, Number value) {
    for (std::size_t byte = 0; byte < sizeof value; ++byte) {
        to += static_cast<char>(static_cast<unsigned char>(value >> (8 * byte) & 0xffU));
    }
}

/// Takes bytes from the front of a text, and remembers when there were too few.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    std::string_view take(std::size_t size);
    template <class Number>
    Number number() {
        Number value = 0;
        const std::string_view bytes = take(sizeof value);
        for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
            value |= static_cast<Number>(static_cast<unsigned char>(bytes[byte])) << (8 * byte);
        }
        return value;
    }
    [[nodiscard]] bool is_short() const { return is_short_; }
    [[nodiscard]] bool is_empty() const { return rest_.empty(); }

private:
    std::string_view rest_;
    bool is_short_ = false;
};

/// Why the bytes of a file are no cache of this identity, as the end of a sentence; empty when they are.
std::string read_records(std::string_view bytes, std::string_view identity, CacheRecords& records);

}  // namespace cache_detail

/// The bytes of a cache file. `identity` is what the records are true of, such as a device and a library's version.
std::string cache_bytes(std::string_view identity, const CacheRecords& records);

/// Reads a cache file, if it is to be trusted (see `open_trusted`). Never throws for what is wrong
/// with the file: `CacheContent::ignored` tells it.
CacheContent read_cache_file(const std::string& path, std::string_view identity);

/// Adds records to a cache file, and makes file and folder when they are missing. Records of `added` whose key the file
/// has already are left as they are, so that all processes come to use the same; those of `corrected` replace it. A
/// file that cannot be read is replaced.
///
/// Writers take turns. One that has waited for `patience` goes on: nobody ever sees half a file, but of two writers at
/// the same time one's records may be lost. Returns why nothing was written, as a sentence;
/// empty when the file now holds the records. Never throws for what is wrong with the folder.
std::string update_cache_file(const std::string& path, std::string_view identity, CacheRecords added,
                              const CacheRecords& corrected = {},
                              std::chrono::milliseconds patience = std::chrono::seconds(1));

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/cache/impl/cache_file.hpp>
#endif
