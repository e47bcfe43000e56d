// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/arena.hpp>
#include <totograph/core/error.hpp>
#include <totograph/io/atomic_file.hpp>
#include <totograph/io/cache/block_checksum.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/file_system.hpp>
#include <totograph/io/mapped_file.hpp>
#include <totograph/io/text.hpp>

// One block of bytes that took long to make, to be mapped into the memory of any number of processes. The file saves
// time and nothing else: whatever is wrong with it, it counts as missing. Nobody may write to it once it is there, and
// one that somebody may write to is copied, not mapped: what is left is the superuser, and an owner who takes that
// right back, who end a process that has mapped a file when they cut it.
//
// Numbers are in the byte order of the machine; the magic tells it. A header (below); the identity; zeros up to a
// multiple of 4,096 bytes; the block; u64 checksum of the block. A reader knows all that stands before the block.

namespace totograph::io {

inline constexpr std::uint32_t weight_file_format = 1;
/// Where the block begins: a multiple of this, so that what is mapped is aligned.
inline constexpr std::size_t weight_file_alignment = 4096;

/// What a weight file holds.
struct WeightFile {
    std::shared_ptr<const void> owner;  ///< Null unless all is well; keeps the block in its place.
    std::span<const std::byte> block;
    bool exists = false;
    std::string ignored;  ///< Why the file was not used, as a sentence; empty when it was, or there is none.
};

namespace weight_file_detail {

struct Header {
    std::uint64_t magic = 0x89746757'65696768U;
    std::uint32_t format = weight_file_format;
    std::uint32_t reserved = 0;
    std::uint64_t identity_bytes = 0;
    std::uint64_t block_begin = 0;
    std::uint64_t block_bytes = 0;
};

/// The header, the identity and what fills up the last page.
std::string head_of(std::string_view identity, std::size_t block_bytes);

/// Why bytes are not the file of this identity with a block of so many bytes, as the end of a sentence; empty when they
/// are, and then `block` is where it lies.
template <class ForEach>
std::string check(std::span<const std::byte> bytes, std::string_view identity, std::size_t block_bytes,
                  ForEach&& for_each, std::span<const std::byte>& block) {
    Header header;
    if (bytes.size() < sizeof header) {
        return "it is cut off";
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != Header().magic) {
        return "it does not begin as a weight file of this machine does";
    }
    if (header.format != weight_file_format) {
        return "its format is " + std::to_string(header.format) + ", expected " + std::to_string(weight_file_format);
    }
    const std::string head = head_of(identity, block_bytes);
    std::uint64_t sum = 0;
    if (const std::size_t expected = head.size() + block_bytes + sizeof sum; bytes.size() != expected) {
        return "it holds " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(expected);
    }
    if (std::memcmp(bytes.data(), head.data(), head.size()) != 0) {
        return "it was written for another weight, checkpoint or layout, or its head is damaged";
    }
    block = bytes.subspan(head.size(), block_bytes);
    std::memcpy(&sum, bytes.data() + head.size() + block_bytes, sizeof sum);
    if (sum != block_checksum(block, for_each)) {
        return "its checksum does not match: it is damaged";
    }
    return {};
}

/// Why bytes are no whole file of whatever they say that they were written for, as the end of a sentence; empty when
/// they are.
template <class ForEach>
std::string check_alone(std::span<const std::byte> bytes, ForEach&& for_each) {
    Header header;
    if (bytes.size() < sizeof header) {
        return "it is cut off";
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    // Before anything is asked for or added up.
    if (header.identity_bytes > bytes.size() - sizeof header || header.block_bytes > bytes.size()) {
        return "it is cut off, or damaged";
    }
    const std::string_view identity(reinterpret_cast<const char*>(bytes.data()) + sizeof header, header.identity_bytes);
    std::span<const std::byte> block;
    return check(bytes, identity, header.block_bytes, for_each, block);
}

/// Reads a whole file into memory, in parts by `for_each`. Throws `Error`.
template <class ForEach>
Arena read_whole(const std::string& path, const TrustedFile& opened, ForEach&& for_each) {
    constexpr std::size_t part_bytes = std::size_t{1} << 20U;
    Arena memory(static_cast<std::size_t>(opened.status.st_size));
    std::atomic<int> failed{0};
    for_each((memory.size() + part_bytes - 1) / part_bytes, [&](std::size_t part) {
        std::size_t at = part * part_bytes;
        const std::size_t end = std::min(memory.size(), at + part_bytes);
        while (at < end) {
            const ::ssize_t count = ::pread(opened.file.get(), memory.data() + at, end - at, static_cast<::off_t>(at));
            if (count == 0 || (count < 0 && errno != EINTR)) {
                failed = count < 0 ? errno : EIO;  // shorter than it was
                return;
            }
            at += static_cast<std::size_t>(std::max<::ssize_t>(count, 0));
        }
    });
    if (failed != 0) {
        throw Error(ErrorCode::io_failure,
                    "The file " + in_quotes(path, longest_quote) + " cannot be read: " + system_reason(failed) + ".");
    }
    return memory;
}

}  // namespace weight_file_detail

/// The size of a file with a block of so many bytes.
inline std::size_t weight_file_bytes(std::string_view identity, std::size_t block_bytes) {
    return weight_file_detail::head_of(identity, 0).size() + block_bytes + sizeof(std::uint64_t);
}

/// How `read_weight_file` takes a block into memory.
enum class WeightMemory : std::uint8_t {
    automatic,  ///< Mapped, so that processes share it, where nobody may change what is mapped; else copied.
    copied,     ///< Read into memory of this process.
};

/// Takes a file into memory and checks all of it: that it is to be trusted (see `open_trusted`), was written for
/// this identity, that its block has so many bytes, and its checksum, in parts by `for_each` (see `block_checksum`).
/// Never throws for what is wrong with the file.
template <class ForEach>
WeightFile read_weight_file(const std::string& path, std::string_view identity, std::size_t block_bytes,
                            ForEach&& for_each, WeightMemory memory = WeightMemory::automatic) {
    WeightFile result;
    const auto check = [&](auto owner, std::span<const std::byte> bytes) {
        std::string wrong = weight_file_detail::check(bytes, identity, block_bytes, for_each, result.block);
        if (wrong.empty()) {
            result.owner = std::move(owner);
        }
        return wrong;
    };
    try {
        const TrustedFile opened = open_trusted(path);
        result.exists = opened.exists;
        std::string wrong = opened.wrong;
        if (opened.file) {
            // What has another size is only looked at: it must not ask for any amount of memory.
            const bool is_whole =
                static_cast<std::uint64_t>(opened.status.st_size) == weight_file_bytes(identity, block_bytes);
            if (is_whole && (memory == WeightMemory::copied || !keeps_mapped_files(opened.file))) {
                auto copy = std::make_shared<const Arena>(weight_file_detail::read_whole(path, opened, for_each));
                const std::span<const std::byte> bytes(copy->data(), copy->size());
                wrong = check(std::move(copy), bytes);
            } else {
                auto file = std::make_shared<const MappedFile>(path, opened.file, opened.status);
                const std::span<const std::byte> bytes = file->bytes();
                wrong = check(std::move(file), bytes);
            }
        }
        if (!wrong.empty()) {
            result.ignored = "The file " + in_quotes(path, longest_quote) + " is ignored: " + wrong + ".";
        }
    } catch (const Error& error) {
        result.ignored = error.what();
    }
    if (!result.owner) {
        result.block = {};
    }
    return result;
}

/// Writes a file that `read_weight_file` reads, in the place of what is there. Its folder exists. Throws `Error` when
/// it cannot be written; what was there before is then unchanged.
template <class ForEach>
void write_weight_file(const std::string& path, std::string_view identity, std::span<const std::byte> block,
                       ForEach&& for_each) {
    using namespace weight_file_detail;
    const std::string head = head_of(identity, block.size());
    const std::uint64_t sum = block_checksum(block, for_each);
    // A file that a crash leaves half written has another checksum: waiting for the disk would gain nothing.
    AtomicFile file(path, {.keeps_permissions = false,
                           .flushes = false,
                           .follows_links = false,
                           .only_owner_writes = true,
                           .read_only = true});
    file.write(head);
    file.write(block);
    file.write(std::as_bytes(std::span(&sum, 1)));
    file.commit();
}

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/cache/impl/weight_file.hpp>
#endif
