// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/file_lock.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::content_of;
using totograph::test::ScratchFolder;

constexpr std::string_view identity = "device 1; library 2";

io::CacheRecords some_records() {
    return {{"first", std::string("\0\1\2\xff", 4)}, {"second", ""}, {std::string("th\0ird", 6), "three"}};
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// What a file of these bytes is ignored for; empty when it is read.
std::string ignored(const ScratchFolder& folder, std::string_view bytes) {
    const auto path = folder.file("cache", bytes);
    const io::CacheContent content = io::read_cache_file(path, identity);
    CHECK(content.exists);
    CHECK((content.ignored.empty() || content.records.empty()));
    CHECK((content.ignored.empty() || has(content.ignored, path.string())));
    return content.ignored;
}

/// Writes records of its own, one after the other.
void write_records(const std::filesystem::path& path, const std::string& writer, int count) {
    for (int i = 0; i < count; ++i) {
        const std::string key = writer + " " + std::to_string(i);
        const std::string wrong =
            io::update_cache_file(path, identity, {{key, std::string(100, 'x')}}, {}, std::chrono::minutes(2));
        if (!wrong.empty()) {
            throw Error(ErrorCode::io_failure, wrong);
        }
    }
}

}  // namespace

TEST_CASE("cache file: what is written is read") {
    const ScratchFolder folder;
    const auto path = folder.path() / "missing" / "folders" / "cache";
    CHECK_FALSE(io::read_cache_file(path, identity).exists);
    CHECK(io::read_cache_file(path, identity).ignored.empty());
    CHECK(io::update_cache_file(path, identity, some_records()).empty());
    const io::CacheContent content = io::read_cache_file(path, identity);
    CHECK(content.exists);
    CHECK(content.ignored.empty());
    CHECK(content.records == some_records());
    CHECK(content_of(path) == io::cache_bytes(identity, some_records()));
    // No record is a file too.
    CHECK(io::update_cache_file(folder.path() / "none", "", {}).empty());
    CHECK(io::read_cache_file(folder.path() / "none", "").ignored.empty());
}

TEST_CASE("cache file: the format stays as it is") {
    // Files of other versions must be told apart: a change of the bytes asks for another `cache_format`.
    CHECK(io::cache_bytes("id", {{"key", "value"}}) ==
          std::string("\x89tgcache\1\0\0\0\2\0\0\0id\1\0\0\0\3\0\0\0\5\0\0\0keyvalue", 38) +
              std::string("\xc8\xb7\x7b\x99\x18\x2e\xe8\xaa", 8));
}

TEST_CASE("cache file: a file that is cut off anywhere is ignored") {
    const ScratchFolder folder;
    const std::string whole = io::cache_bytes(identity, some_records());
    CHECK(ignored(folder, whole).empty());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(ignored(folder, whole.substr(0, size)).empty());
    }
    CHECK_FALSE(ignored(folder, whole + "x").empty());
    CHECK_FALSE(ignored(folder, whole + whole).empty());
}

TEST_CASE("cache file: a file with any bit flipped is ignored") {
    const ScratchFolder folder;
    const std::string whole = io::cache_bytes(identity, some_records());
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        CAPTURE(bit);
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(static_cast<unsigned char>(damaged[bit / 8]) ^ (1U << (bit % 8)));
        CHECK_FALSE(ignored(folder, damaged).empty());
    }
}

TEST_CASE("cache file: sizes that lie are ignored, with a checksum that is right") {
    const ScratchFolder folder;
    const std::string whole = io::cache_bytes(identity, some_records());
    const std::string body = whole.substr(0, whole.size() - 8);
    const auto with_checksum = [](std::string bytes) {
        io::cache_detail::append(bytes, io::checksum_of(bytes));
        return bytes;
    };
    REQUIRE(ignored(folder, with_checksum(body)).empty());
    for (std::size_t at = 12; at < body.size(); ++at) {
        for (const char value : {'\x01', '\x7f', '\xff'}) {
            CAPTURE(at);
            std::string changed = body;
            changed[at] = value;
            // Another key or value is well-formed; what must not happen is a read beyond the end.
            (void)ignored(folder, with_checksum(changed));
        }
    }
    std::string count = body;
    count[12 + 4 + identity.size()] = 4;
    CHECK(has(ignored(folder, with_checksum(count)), "sizes do not add up"));
    count[12 + 4 + identity.size()] = 2;
    CHECK(has(ignored(folder, with_checksum(count)), "sizes do not add up"));
    std::string twice("\x89tgcache\1\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0k\1\0\0\0\0\0\0\0k", 38);
    const auto path = folder.file("twice", with_checksum(twice));
    CHECK(has(io::read_cache_file(path, "").ignored, "not in order"));
    std::string nameless("\x89tgcache\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0v", 29);
    const auto without_key = folder.file("nameless", with_checksum(nameless));
    CHECK(has(io::read_cache_file(without_key, "").ignored, "not in order"));
}

TEST_CASE("cache file: files of others are ignored, and the reason is told") {
    const ScratchFolder folder;
    CHECK(has(ignored(folder, ""), "does not begin as a cache file does"));
    CHECK(has(ignored(folder, "#!/bin/sh\necho hello\n"), "does not begin as a cache file does"));
    CHECK(has(ignored(folder, io::cache_magic), "cut off"));
    CHECK(has(ignored(folder, io::cache_bytes("device 3", some_records())), "'device 3', expected 'device 1; lib"));
    std::string newer = io::cache_bytes(identity, some_records());
    newer[io::cache_magic.size()] = 2;
    CHECK(has(ignored(folder, newer), "its format is 2, expected 1"));
    CHECK(has(ignored(folder, std::string(io::most_cache_bytes + 1, 'x')), "more than the 4194304 bytes"));
    CHECK(has(io::read_cache_file(folder.path(), identity).ignored, "not a regular file"));
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(has(io::read_cache_file(pipe, identity).ignored, "not a regular file"));
    CHECK(has(io::read_cache_file("/dev/zero", identity).ignored, "not a regular file"));
    CHECK(has(io::read_cache_file(folder.file("plain", "") / "cache", identity).ignored, "Not a directory"));
}

TEST_CASE("cache file: what is ignored is replaced") {
    const ScratchFolder folder;
    const auto path = folder.file("cache", "something else");
    REQUIRE(::chmod(path.c_str(), 0) == 0);
    CHECK(io::update_cache_file(path, identity, some_records()).empty());
    CHECK(io::read_cache_file(path, identity).records == some_records());
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & S_IRUSR) != 0U);  // the old file's permissions are not taken over
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(io::update_cache_file(pipe, identity, some_records()).empty());
    CHECK(io::read_cache_file(pipe, identity).records == some_records());
}

TEST_CASE("cache file: what is ignored stays until the file that replaces it is there") {
    const ScratchFolder folder;
    const auto path = folder.file("cache", "something else");
    REQUIRE(::chmod(path.c_str(), 0) == 0);
    const std::string huge(io::most_cache_bytes, 'x');
    CHECK(has(io::update_cache_file(path, identity, {{"huge", huge}}), "4194304 at most"));
    CHECK(std::filesystem::file_size(path) == 14);
    {
        const totograph::test::FileSizeLimit limit(20);
        CHECK(has(io::update_cache_file(path, identity, some_records()), "was not written"));
    }
    CHECK(std::filesystem::file_size(path) == 14);
    CHECK(folder.file_count() == 2);  // the file and its lock
}

TEST_CASE("cache file: records are added, and replaced only when they are corrected") {
    const ScratchFolder folder;
    const auto path = folder.path() / "cache";
    REQUIRE(io::update_cache_file(path, identity, {{"a", "1"}, {"b", "2"}}).empty());
    REQUIRE(io::update_cache_file(path, identity, {{"b", "3"}, {"c", "4"}}).empty());
    CHECK(io::read_cache_file(path, identity).records == io::CacheRecords{{"a", "1"}, {"b", "2"}, {"c", "4"}});
    REQUIRE(io::update_cache_file(path, identity, {}, {{"a", "5"}, {"d", "6"}}).empty());
    CHECK(io::read_cache_file(path, identity).records ==
          io::CacheRecords{{"a", "5"}, {"b", "2"}, {"c", "4"}, {"d", "6"}});
    // Nothing new is nothing to write.
    struct stat before {};
    struct stat after {};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    REQUIRE(io::update_cache_file(path, identity, {{"b", "7"}}).empty());
    REQUIRE(::stat(path.c_str(), &after) == 0);
    CHECK(before.st_ino == after.st_ino);
}

TEST_CASE("cache file: what does not fit makes room or is told") {
    const ScratchFolder folder;
    const auto path = folder.path() / "cache";
    const std::string half(io::most_cache_bytes / 2, 'x');
    REQUIRE(io::update_cache_file(path, identity, {{"old", half}}).empty());
    REQUIRE(io::update_cache_file(path, identity, {{"new", half}}).empty());
    CHECK(io::read_cache_file(path, identity).records == io::CacheRecords{{"new", half}});
    CHECK(has(io::update_cache_file(path, identity, {{"huge", half + half}}), "4194304 at most"));
    CHECK(io::read_cache_file(path, identity).records == io::CacheRecords{{"new", half}});
}

TEST_CASE("cache file: a folder that cannot be written is a reason, not an error") {
    const ScratchFolder folder;
    const auto plain = folder.file("plain", "content");
    CHECK(has(io::update_cache_file(plain / "cache", identity, some_records()), "cannot be made"));
    CHECK(has(io::update_cache_file(plain / "folder" / "cache", identity, some_records()), "cannot be made"));
    CHECK(content_of(plain) == "content");
    std::filesystem::create_directory(folder.path() / "cache");
    CHECK(has(io::update_cache_file(folder.path() / "cache", identity, some_records()), "not a regular file"));
    CHECK(std::filesystem::is_directory(folder.path() / "cache"));
    // /proc takes no file from anyone, root included; other folders refuse by their permissions.
    CHECK(has(io::update_cache_file("/proc/totograph-cache", identity, some_records()), "cannot be written"));
    if (::geteuid() != 0) {
        REQUIRE(::chmod(folder.path().c_str(), 0500) == 0);
        CHECK(has(io::update_cache_file(folder.path() / "new", identity, some_records()), "Permission denied"));
        REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
    }
}

TEST_CASE("cache file: threads that write at the same time lose nothing") {
    const ScratchFolder folder;
    const auto path = folder.path() / "cache";
    constexpr int writers = 4;
    constexpr int count = 10;
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&, writer] { write_records(path, "thread " + std::to_string(writer), count); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const io::CacheContent content = io::read_cache_file(path, identity);
    CHECK(content.ignored.empty());
    CHECK(content.records.size() == std::size_t{writers} * count);
    CHECK(folder.file_count() == 2);  // the file and its lock
}

TEST_CASE("cache file: processes that write at the same time lose nothing, and readers see whole files") {
    const ScratchFolder folder;
    const auto path = folder.path() / "cache";
    constexpr int writers = 3;
    constexpr int count = 10;
    std::vector<::pid_t> children;
    for (int writer = 0; writer < writers; ++writer) {
        const ::pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            int result = 1;
            try {
                write_records(path, "process " + std::to_string(writer), count);
                result = 0;
            } catch (const Error&) {
            }
            ::_exit(result);
        }
        children.push_back(child);
    }
    for (std::size_t size = 0; size < std::size_t{writers} * count;) {
        const io::CacheContent content = io::read_cache_file(path, identity);
        REQUIRE(content.ignored.empty());
        REQUIRE(content.records.size() >= size);
        size = content.records.size();
        if (::waitpid(-1, nullptr, WNOHANG) < 0) {
            break;  // all have ended
        }
    }
    for (const ::pid_t child : children) {
        ::waitpid(child, nullptr, 0);
    }
    CHECK(io::read_cache_file(path, identity).records.size() == std::size_t{writers} * count);
    CHECK(folder.file_count() == 2);
}

TEST_CASE("cache file: a lock that another keeps for long does not stop a writer") {
    const ScratchFolder folder;
    const auto path = folder.path() / "cache";
    constexpr std::chrono::milliseconds short_time(5);
    const io::FileLock held(path.string() + ".lock", short_time);
    REQUIRE(held.is_held());
    const io::FileLock second(path.string() + ".lock", short_time);
    CHECK_FALSE(second.is_held());
    CHECK_FALSE(io::FileLock(folder.path() / "missing" / "lock", short_time).is_held());
    CHECK(io::update_cache_file(path, identity, some_records(), {}, short_time).empty());
    CHECK(io::read_cache_file(path, identity).records == some_records());
}

TEST_CASE("cache folder: the first variable that names one decides") {
    const auto path = [](const char* own, const char* cache_home, const char* home) {
        return io::choose_cache_folder(own, cache_home, home).path;
    };
    CHECK(path("/own", "/cache", "/home") == "/own");
    CHECK(path("own/relative", "/cache", "/home") == "own/relative");
    CHECK(path(nullptr, "/cache", "/home") == "/cache/totograph");
    CHECK(path(nullptr, "", "/home") == "/home/.cache/totograph");
    CHECK(path(nullptr, "relative", "/home") == "/home/.cache/totograph");
    CHECK(path(nullptr, nullptr, "/home") == "/home/.cache/totograph");
    for (const char* home : {static_cast<const char*>(nullptr), "", "relative"}) {
        CHECK(path(nullptr, nullptr, home).empty());
        CHECK(has(io::choose_cache_folder(nullptr, nullptr, home).missing, "TOTOGRAPH_CACHE_DIR"));
    }
    CHECK(path("", "/cache", "/home").empty());
    CHECK(has(io::choose_cache_folder("", "/cache", "/home").missing, "switches the cache off"));
    CHECK(io::choose_cache_folder("/own", nullptr, nullptr).missing.empty());
}

TEST_CASE("cache folder: large files are kept only where the user says") {
    CHECK(io::choose_large_cache_folder("/own").path == "/own");
    CHECK(io::choose_large_cache_folder("").path.empty());
    CHECK(has(io::choose_large_cache_folder("").missing, "switches the cache off"));
    CHECK(io::choose_large_cache_folder(nullptr).path.empty());
    CHECK(has(io::choose_large_cache_folder(nullptr).missing, "TOTOGRAPH_CACHE_DIR is not set"));
}
