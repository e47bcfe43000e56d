// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/cache/cache_file.hpp>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/atomic_file.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/file_lock.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {
namespace cache_detail {

TOTOGRAPH_INLINE std::string_view Reader::take(std::size_t size) {
    is_short_ = is_short_ || size > rest_.size();
    const std::string_view taken = is_short_ ? std::string_view() : rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
}

TOTOGRAPH_INLINE std::string read_records(std::string_view bytes, std::string_view identity, CacheRecords& records) {
    Reader header(bytes);
    if (header.take(cache_magic.size()) != cache_magic) {
        return "it does not begin as a cache file does";
    }
    const auto format = header.number<std::uint32_t>();
    if (header.is_short() || bytes.size() < sizeof(std::uint64_t)) {
        return "it is cut off";
    }
    if (format != cache_format) {
        return "its format is " + std::to_string(format) + ", expected " + std::to_string(cache_format);
    }
    const std::string_view body = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
    if (Reader(bytes.substr(body.size())).number<std::uint64_t>() != checksum_of(body)) {
        return "its checksum does not match: it is damaged or cut off";
    }
    Reader reader(body.substr(cache_magic.size() + sizeof format));
    const std::string_view found = reader.take(reader.number<std::uint32_t>());
    if (found != identity) {
        return "it was written for " + in_quotes(found, longest_quote) + ", expected " +
               in_quotes(identity, longest_quote);
    }
    const auto count = reader.number<std::uint32_t>();
    CacheRecords result;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto key_size = reader.number<std::uint32_t>();
        const auto value_size = reader.number<std::uint32_t>();
        const std::string_view key = reader.take(key_size);
        const std::string_view value = reader.take(value_size);
        if (reader.is_short()) {
            break;
        }
        if (key.empty() || (!result.empty() && key <= result.rbegin()->first)) {
            return "its records are not in order";
        }
        result.emplace_hint(result.end(), key, value);
    }
    if (reader.is_short() || !reader.is_empty()) {
        return "its sizes do not add up";
    }
    records = std::move(result);
    return {};
}

}  // namespace cache_detail

TOTOGRAPH_INLINE std::string cache_bytes(std::string_view identity, const CacheRecords& records) {
    std::string bytes(cache_magic);
    cache_detail::append(bytes, cache_format);
    cache_detail::append(bytes, static_cast<std::uint32_t>(identity.size()));
    bytes += identity;
    cache_detail::append(bytes, static_cast<std::uint32_t>(records.size()));
    for (const auto& [key, value] : records) {
        cache_detail::append(bytes, static_cast<std::uint32_t>(key.size()));
        cache_detail::append(bytes, static_cast<std::uint32_t>(value.size()));
        bytes += key;
        bytes += value;
    }
    cache_detail::append(bytes, checksum_of(bytes));
    return bytes;
}

TOTOGRAPH_INLINE CacheContent read_cache_file(const std::string& path, std::string_view identity) {
    CacheContent content;
    const auto ignore = [&](const std::string& why) {
        content.records.clear();
        content.ignored = "The file " + in_quotes(path, longest_quote) + " is ignored: " + why + ".";
        return content;
    };
    const TrustedFile opened = open_trusted(path);
    content.exists = opened.exists;
    if (!opened.file) {
        return opened.exists ? ignore(opened.wrong) : content;
    }
    std::string bytes;
    char part[16384];
    while (true) {
        const ::ssize_t count = ::read(opened.file.get(), part, sizeof part);
        if (count < 0 && errno != EINTR) {
            return ignore("reading failed: " + system_reason(errno));
        }
        if (count == 0) {
            break;
        }
        bytes.append(part, static_cast<std::size_t>(std::max<::ssize_t>(count, 0)));
        if (bytes.size() > most_cache_bytes) {
            return ignore("it holds more than the " + std::to_string(most_cache_bytes) +
                          " bytes that are read at most");
        }
    }
    const std::string wrong = cache_detail::read_records(bytes, identity, content.records);
    return wrong.empty() ? content : ignore(wrong);
}

TOTOGRAPH_INLINE std::string update_cache_file(const std::string& path, std::string_view identity, CacheRecords added,
                                               const CacheRecords& corrected, std::chrono::milliseconds patience) {
    try {
        const std::filesystem::path folder = std::filesystem::path(path).parent_path();
        std::error_code failed = folder.empty() ? std::error_code() : make_own_folders(folder);
        if (failed) {
            return "The folder " + in_quotes(folder.string(), longest_quote) + " cannot be made: " + failed.message() +
                   ".";
        }
        if (std::string distrusted = distrusted_folder(folder); !distrusted.empty()) {
            return distrusted;  // no process would read what is put there
        }
        const FileLock lock(path + ".lock", patience);
        CacheContent content = read_cache_file(path, identity);
        if (!content.ignored.empty() && !std::filesystem::is_regular_file(path, failed)) {
            ::unlink(path.c_str());  // such as a pipe, which no file may take the place of; a folder stays
        }
        for (const auto& [key, value] : corrected) {
            added.insert_or_assign(key, value);
            content.records.insert_or_assign(key, value);
        }
        CacheRecords merged = content.records;
        merged.insert(added.begin(), added.end());
        if (content.exists && content.ignored.empty() && merged == content.records && corrected.empty()) {
            return {};
        }
        std::string bytes = cache_bytes(identity, merged);
        if (bytes.size() > most_cache_bytes) {
            bytes = cache_bytes(identity, added);  // what is old makes room
        }
        if (bytes.size() > most_cache_bytes) {
            return "The records for " + in_quotes(path, longest_quote) + " take " + std::to_string(bytes.size()) +
                   " bytes, and a cache file holds " + std::to_string(most_cache_bytes) + " at most.";
        }
        // The permissions of a file that cannot be read may be what is wrong with it.
        AtomicFile file(
            path, {.keeps_permissions = content.ignored.empty(), .follows_links = false, .only_owner_writes = true});
        file.write(bytes);
        file.commit();
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace totograph::io
