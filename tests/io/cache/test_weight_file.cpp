// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <totograph/io/cache/block_checksum.hpp>
#include <totograph/io/cache/checksum.hpp>
#include <totograph/io/cache/weight_file.hpp>
#include <totograph/io/cache/weight_folder.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/file_identity.hpp>
#include <totograph/io/file_system.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::content_of;
using totograph::test::FileSizeLimit;
using totograph::test::ScratchFolder;

const std::string identity = "checkpoint 1\nweight 2\n";

constexpr auto in_order = [](std::size_t parts, auto&& function) {
    for (std::size_t part = 0; part < parts; ++part) {
        function(part);
    }
};

std::vector<std::byte> some_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
    }
    return bytes;
}

bool has(const std::string& text, std::string_view part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

io::WeightFile read(const std::filesystem::path& path, std::size_t size) {
    return io::read_weight_file(path, identity, size, in_order);
}

/// Why a file is ignored; empty when it is not.
std::string ignored(const std::filesystem::path& path, std::size_t size) {
    const io::WeightFile file = read(path, size);
    CHECK(file.exists);
    CHECK(file.ignored.empty() == (file.owner != nullptr));
    CHECK((file.owner != nullptr || file.block.empty()));
    return file.ignored;
}

}  // namespace

TEST_CASE("fast checksum: any byte, the order and the length count") {
    for (const std::size_t size : std::initializer_list<std::size_t>{1, 7, 8, 31, 32, 33, 100}) {
        const std::vector<std::byte> bytes = some_bytes(size);
        const std::uint64_t sum = io::fast_checksum(bytes);
        CHECK(sum == io::fast_checksum(some_bytes(size)));
        for (std::size_t at = 0; at < size; ++at) {
            for (const unsigned bit : {0U, 5U, 7U}) {
                std::vector<std::byte> changed = bytes;
                changed[at] ^= static_cast<std::byte>(1U << bit);
                CHECK(io::fast_checksum(changed) != sum);
            }
        }
        std::vector<std::byte> longer = bytes;
        longer.push_back(std::byte{0});
        CHECK(io::fast_checksum(longer) != sum);
    }
    std::vector<std::byte> swapped = some_bytes(64);
    std::swap_ranges(swapped.begin(), swapped.begin() + 32, swapped.begin() + 32);
    CHECK(io::fast_checksum(swapped) != io::fast_checksum(some_bytes(64)));
    CHECK(io::fast_checksum({}) != io::fast_checksum(std::vector<std::byte>(8)));
}

TEST_CASE("block checksum: parts in any order, each of which counts") {
    const std::vector<std::byte> bytes = some_bytes((std::size_t{3} << 18U) + 5);
    const std::uint64_t sum = io::block_checksum(bytes, in_order);
    CHECK(sum == io::block_checksum(bytes, [](std::size_t parts, auto&& function) {
              CHECK(parts == 4);
              for (std::size_t part = parts; part-- > 0;) {
                  function(part);
              }
          }));
    for (std::size_t at = 0; at < bytes.size(); at += (std::size_t{1} << 18U) + 1) {
        std::vector<std::byte> changed = bytes;
        changed[at] ^= std::byte{1};
        CHECK(io::block_checksum(changed, in_order) != sum);
    }
}

TEST_CASE("weight file: what is written is read, aligned") {
    const ScratchFolder folder;
    for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, std::size_t{300000}}) {
        const auto path = folder.path() / "weight";
        const std::vector<std::byte> bytes = some_bytes(size);
        io::write_weight_file(path, identity, bytes, in_order);
        CHECK(std::filesystem::file_size(path) == io::weight_file_bytes(identity, size));
        const io::WeightFile file = read(path, size);
        REQUIRE(file.owner != nullptr);
        CHECK(std::vector<std::byte>(file.block.begin(), file.block.end()) == bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(file.block.data()) % io::weight_file_alignment == 0);
        // What is mapped outlives its name, and what replaces it.
        io::write_weight_file(path, identity, std::vector<std::byte>(size), in_order);
        CHECK(std::vector<std::byte>(file.block.begin(), file.block.end()) == bytes);
        std::filesystem::remove(path);
        CHECK(std::vector<std::byte>(file.block.begin(), file.block.end()) == bytes);
    }
    CHECK(folder.file_count() == 0);
    const io::WeightFile missing = read(folder.path() / "missing", 1);
    CHECK_FALSE(missing.exists);
    CHECK(missing.ignored.empty());
}

TEST_CASE("weight file: what nobody may write to is mapped, and what its owner may write to is copied") {
    const ScratchFolder folder;
    const auto path = folder.path() / "weight";
    const std::vector<std::byte> bytes = some_bytes(50000);
    io::write_weight_file(path, identity, bytes, in_order);
    const auto is_mapped = [&] {
        std::ifstream maps("/proc/self/maps");
        return has(std::string(std::istreambuf_iterator<char>(maps), {}), path.string());
    };
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & (S_IRUSR | S_IWUSR | S_IWGRP | S_IWOTH)) == S_IRUSR);
    if (::geteuid() != 0) {
        CHECK_FALSE(std::ofstream(path).is_open());  // as by cp, which would change what others have mapped
    }
    {
        const io::WeightFile file = read(path, bytes.size());
        REQUIRE(file.owner != nullptr);
        CHECK(is_mapped() == io::keeps_mapped_files(io::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))));
    }
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    const io::WeightFile file = read(path, bytes.size());
    REQUIRE(file.owner != nullptr);
    CHECK_FALSE(is_mapped());
    std::filesystem::resize_file(path, 0);
    CHECK(std::vector<std::byte>(file.block.begin(), file.block.end()) == bytes);
}

TEST_CASE("weight file: a change of any byte, and any cut, is found") {
    const ScratchFolder folder;
    const std::size_t size = 5000;
    const auto path = folder.path() / "weight";
    io::write_weight_file(path, identity, some_bytes(size), in_order);
    const std::string good = content_of(path);
    REQUIRE(ignored(path, size).empty());
    for (std::size_t at = 0; at < good.size(); at += at < 128 || at + 128 > good.size() ? 1 : 37) {
        CAPTURE(at);
        std::string changed = good;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        CHECK_FALSE(ignored(folder.file("changed", changed), size).empty());
    }
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{39}, std::size_t{40}, std::size_t{100},
                                     std::size_t{4096}, std::size_t{4097}, good.size() - 1}) {
        CAPTURE(length);
        CHECK_FALSE(ignored(folder.file("cut", good.substr(0, length)), size).empty());
    }
    CHECK(has(ignored(folder.file("longer", good + "x"), size), "expected"));
    // Numbers that overflow when they are added up.
    for (std::size_t at = 8; at < 40; at += 8) {
        std::string hostile = good;
        std::memset(hostile.data() + at, 0xff, 8);
        CHECK_FALSE(ignored(folder.file("hostile", hostile), size).empty());
    }
}

TEST_CASE("weight file: files of others are ignored, and the reason is told") {
    const ScratchFolder folder;
    const std::size_t size = 5000;
    CHECK(has(ignored(folder.file("empty", ""), size), "empty"));
    CHECK(has(ignored(folder.file("script", "#!/bin/sh\n"), size), "cut off"));
    CHECK(has(ignored(folder.file("text", std::string(9104, 'x')), size), "does not begin as a weight file"));
    const auto path = folder.path() / "weight";
    io::write_weight_file(path, "checkpoint 2\nweight 2\n", some_bytes(size), in_order);
    CHECK(has(ignored(path, size), "for another weight, checkpoint or layout"));
    io::write_weight_file(path, identity, some_bytes(size), in_order);
    CHECK(has(ignored(path, size + 1), "expected 9105"));
    std::string newer = content_of(path);
    newer[8] = 9;
    CHECK(has(ignored(folder.file("newer", newer), size), "its format is 9, expected 1"));
    CHECK(has(ignored(folder.path(), size), "not a regular file"));
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(has(ignored(pipe, size), "not a regular file"));
    const auto loop = folder.path() / "loop";
    std::filesystem::create_symlink(loop, loop);
    CHECK(has(ignored(loop, size), "symbolic link"));
    if (::geteuid() != 0) {
        REQUIRE(::chmod(path.c_str(), 0) == 0);
        CHECK(has(ignored(path, size), "Permission denied"));
        io::write_weight_file(path, identity, some_bytes(size), in_order);
        CHECK(ignored(path, size).empty());  // the old permissions are not taken over
    }
}

TEST_CASE("weight file: a full disk is an error that leaves what was there") {
    const ScratchFolder folder;
    const auto path = folder.path() / "weight";
    io::write_weight_file(path, identity, some_bytes(5000), in_order);
    {
        const FileSizeLimit limit(8192);
        check_error(ErrorCode::io_failure, {"was not written"},
                    [&] { io::write_weight_file(path, identity, some_bytes(9000), in_order); });
    }
    CHECK(ignored(path, 5000).empty());
    CHECK(folder.file_count() == 1);
}

TEST_CASE("weight file: processes that write at the same time, and one that is killed, leave whole files") {
    const ScratchFolder folder;
    const auto path = folder.path() / "weight";
    const std::vector<std::byte> bytes = some_bytes(600000);
    std::vector<::pid_t> children;
    for (int writer = 0; writer < 3; ++writer) {
        const ::pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            for (int i = 0; i < 8; ++i) {
                if (writer == 2 && i == 1) {
                    ::raise(SIGKILL);
                }
                io::write_weight_file(path, identity, bytes, in_order);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    int seen = 0;
    for (std::size_t ended = 0; ended < children.size();) {
        const io::WeightFile file = read(path, bytes.size());
        CHECK(file.ignored.empty());
        seen += file.owner != nullptr ? 1 : 0;
        ended += ::waitpid(-1, nullptr, WNOHANG) > 0 ? 1U : 0U;
    }
    CHECK(read(path, bytes.size()).owner != nullptr);
    CHECK(seen > 0);
    CHECK(folder.file_count() == 1);
}

TEST_CASE("weight folder: the sets not used for longest make room, and nothing else goes") {
    const ScratchFolder scratch;
    const auto root = scratch.path() / "weights";
    const io::WeightFolderLimits limits{.most_bytes = 10000, .free_bytes = 0};
    const auto add = [&](const std::string& set, std::size_t bytes, int hours_ago) {
        io::WeightFolder folder(root, io::checksum_text(set), limits);
        const std::string refused = folder.make_room(bytes);
        if (refused.empty()) {
            const auto path = folder.file(io::checksum_text("w" + std::to_string(bytes)));
            std::ofstream(path, std::ios::binary) << std::string(bytes, 'x');
            std::filesystem::last_write_time(
                folder.set(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours_ago));
        }
        return refused;
    };
    const auto exists = [&](const std::string& set) { return std::filesystem::exists(root / io::checksum_text(set)); };
    CHECK(add("old", 4000, 2).empty());
    CHECK(add("older", 2000, 3).empty());
    CHECK(add("new", 3000, 1).empty());
    const auto foreign = root / "0123456789abcdeg";
    std::filesystem::create_directories(foreign);
    const auto precious = root / io::checksum_text("older") / "thesis.txt";
    std::ofstream(precious) << "mine";
    std::filesystem::last_write_time(precious.parent_path(),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(3));
    CHECK(add("next", 3000, 0).empty());
    CHECK(exists("old"));
    CHECK(exists("new"));
    CHECK(content_of(precious) == "mine");
    CHECK(std::distance(std::filesystem::directory_iterator(precious.parent_path()), {}) == 1);
    // Its own files are never removed for more of them, and others' only when that is enough.
    CHECK(has(add("next", 8000, 0), "holds 10000 of 10000 bytes"));
    CHECK(exists("next"));
    CHECK(exists("old"));
    CHECK(exists("new"));
    // What a link leads to is somebody else's.
    const auto elsewhere = scratch.path() / "elsewhere";
    std::filesystem::rename(root / io::checksum_text("old"), elsewhere);
    std::filesystem::create_directory_symlink(elsewhere, root / io::checksum_text("old"));
    CHECK(add("next", 7000, 0).empty());
    CHECK(exists("next"));
    CHECK_FALSE(exists("new"));
    CHECK(std::distance(std::filesystem::directory_iterator(elsewhere), {}) == 1);
    CHECK(std::filesystem::exists(foreign));
    CHECK(has(add("other", 10001, 0), "are not kept in"));
}

TEST_CASE("weight folder: use is remembered, and what a writer left that died is removed") {
    const ScratchFolder scratch;
    const auto root = scratch.path() / "weights";
    const auto hours_ago = [](int hours) {
        return std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours);
    };
    io::WeightFolder folder(root, io::checksum_text("set"), {.most_bytes = 10000, .free_bytes = 0});
    REQUIRE(folder.make_room(0).empty());
    const auto make = [&](const std::string& name, int age) {
        const auto path = std::filesystem::path(folder.set()) / name;
        std::ofstream(path) << "half";
        std::filesystem::last_write_time(path, hours_ago(age));
        return path;
    };
    const std::string weight = io::checksum_text("weight") + ".weight";
    const auto dead = make(weight + ".tmp-1-1", 2);
    const auto living = make(weight + ".tmp-1-2", 0);
    const auto whole = make(weight, 2);
    std::filesystem::last_write_time(folder.set(), hours_ago(5));
    io::WeightFolder again(root, io::checksum_text("set"), {.most_bytes = 10000, .free_bytes = 0});
    again.mark_used();
    CHECK(std::filesystem::last_write_time(again.set()) > hours_ago(1));
    CHECK(again.make_room(9992).empty());
    CHECK_FALSE(std::filesystem::exists(dead));
    CHECK(std::filesystem::exists(living));
    CHECK(std::filesystem::exists(whole));
    CHECK_FALSE(again.make_room(9993).empty());
}

TEST_CASE("weight folder: what cannot be written is a reason") {
    const ScratchFolder scratch;
    const auto plain = scratch.file("plain", "content");
    CHECK(has(io::WeightFolder(plain, io::checksum_text("set"), {}).make_room(1), "cannot be made"));
    CHECK(has(io::WeightFolder("/proc/weights", io::checksum_text("set"), {}).make_room(1), "cannot be made"));
    io::WeightFolder full(scratch.path(), io::checksum_text("set"),
                          {.most_bytes = 100, .free_bytes = ~std::uintmax_t{0} / 2});
    CHECK(has(full.make_room(1), "bytes left"));
    CHECK(content_of(plain) == "content");
}

TEST_CASE("file identity: another file, another content and another place are others") {
    const ScratchFolder folder;
    const auto path = folder.file("model", "content");
    const io::FileIdentity first = io::file_identity(path);
    CHECK(first == io::file_identity(folder.path() / "." / "model"));
    CHECK_FALSE(first.is_stable());
    std::filesystem::create_symlink(path, folder.path() / "link");
    CHECK(first == io::file_identity(folder.path() / "link"));
    const auto changed = std::filesystem::last_write_time(path);
    CHECK(first.text() != io::file_identity(folder.file("other", "content")).text());
    std::filesystem::last_write_time(path, changed - std::chrono::seconds(10));
    const io::FileIdentity older = io::file_identity(path);
    CHECK(first.changed != older.changed);
    CHECK(first.text() != older.text());
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    CHECK_FALSE(older.is_stable());  // its content may have changed just now, whatever its time says
    CHECK_FALSE(older.is_stable(older.noted / nanoseconds + 2));
    CHECK(older.is_stable(older.noted / nanoseconds + 3));
    io::FileIdentity future = older;
    future.changed = (older.noted / nanoseconds + 100) * nanoseconds;
    CHECK_FALSE(future.is_stable(older.noted / nanoseconds + 3));
    // Another content of the same size in the same place, its time set back: as images are built to be reproducible.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ofstream(path) << "CONTENT";
    std::filesystem::last_write_time(path, changed);
    const io::FileIdentity same_time = io::file_identity(path);
    CHECK(same_time.changed == first.changed);
    CHECK(same_time.inode == first.inode);
    CHECK(same_time.bytes == first.bytes);
    CHECK(same_time != first);
    CHECK(same_time.text() != first.text());
    std::filesystem::remove(path);
    CHECK(io::file_identity(path).path.empty());
    CHECK(io::file_identity(folder.path()).path.empty());
}
