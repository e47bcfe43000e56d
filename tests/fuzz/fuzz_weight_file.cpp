// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/cache/block_checksum.hpp>
#include <totograph/io/cache/weight_file.hpp>

#include "require.hpp"

namespace {

using fuzz::require;
namespace io = totograph::io;

constexpr auto in_order = [](std::size_t parts, auto&& function) {
    for (std::size_t part = 0; part < parts; ++part) {
        function(part);
    }
};

std::vector<std::byte> file_of(std::string_view identity, std::span<const std::byte> block) {
    const std::string head = io::weight_file_detail::head_of(identity, block.size());
    const std::uint64_t sum = io::block_checksum(block, in_order);
    std::vector<std::byte> file(head.size() + block.size() + sizeof sum);
    std::memcpy(file.data(), head.data(), head.size());
    if (!block.empty()) {
        std::memcpy(file.data() + head.size(), block.data(), block.size());
    }
    std::memcpy(file.data() + head.size() + block.size(), &sum, sizeof sum);
    return file;
}

/// Bytes that name what they are for themselves: only what this library writes is accepted.
void read_alone(std::vector<std::byte> bytes) {
    io::weight_file_detail::Header header;
    if (bytes.size() >= sizeof header + sizeof header.magic) {
        std::memcpy(&header, bytes.data(), sizeof header);
        header.magic = io::weight_file_detail::Header().magic;  // which nobody would guess
        std::memcpy(bytes.data(), &header, sizeof header);
        // A checksum that is right for the block that the header claims, where that lies inside.
        const std::size_t end = bytes.size() - sizeof header.magic;
        if (header.block_begin <= end) {
            const std::uint64_t sum =
                io::block_checksum(std::span(bytes).subspan(header.block_begin, end - header.block_begin), in_order);
            std::memcpy(bytes.data() + end, &sum, sizeof sum);
        }
    }
    if (io::weight_file_detail::check_alone(bytes, in_order).empty()) {
        std::memcpy(&header, bytes.data(), sizeof header);
        const std::string_view identity(reinterpret_cast<const char*>(bytes.data()) + sizeof header,
                                        header.identity_bytes);
        require(file_of(identity, std::span(bytes).subspan(header.block_begin, header.block_bytes)) == bytes);
    }
}

/// A good file with some bytes changed: it is refused unless it is the same.
void read_damaged(std::span<const std::byte> block, std::span<const std::byte> changes) {
    constexpr std::string_view identity = "fuzz";
    const std::vector<std::byte> good = file_of(identity, block);
    std::vector<std::byte> file = good;
    for (std::size_t i = 0; i + 2 < changes.size(); i += 3) {
        const auto place = static_cast<std::size_t>(changes[i]) * 256 + static_cast<std::size_t>(changes[i + 1]);
        file[place % file.size()] ^= changes[i + 2];
    }
    std::span<const std::byte> found;
    const std::string wrong = io::weight_file_detail::check(file, identity, block.size(), in_order, found);
    require(wrong.empty() == (file == good));
    require(io::weight_file_detail::check(good, identity, block.size(), in_order, found).empty());
    require(found.size() == block.size());
}

}  // namespace

/// Reads the bytes behind the first as a weight file, or makes one of them and damages it.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const std::vector<std::byte> rest(reinterpret_cast<const std::byte*>(data) + 1,
                                      reinterpret_cast<const std::byte*>(data) + size);
    if ((data[0] & 1U) != 0) {
        read_alone(rest);
    } else {
        const std::size_t changes = std::min<std::size_t>(rest.size(), data[0]);
        read_damaged(std::span(rest).subspan(changes), std::span(rest).first(changes));
    }
    return 0;
}
