// SPDX-License-Identifier: Apache-2.0
// Cache files are believed only when nobody else can have written them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/cache/trusted_file.hpp>
#include <totograph/io/cache/weight_file.hpp>
#include <totograph/io/cache/weight_folder.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/file_lock.hpp>
#include <totograph/io/file_system.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::content_of;
using totograph::test::ScratchFolder;

constexpr auto in_order = [](std::size_t parts, auto&& function) {
    for (std::size_t part = 0; part < parts; ++part) {
        function(part);
    }
};

const std::vector<std::byte> block(5000, std::byte{7});

void write_weights(const std::filesystem::path& path) {
    io::write_weight_file(path, "identity", block, in_order);
}
io::WeightFile read_weights(const std::filesystem::path& path, io::WeightMemory memory = io::WeightMemory::automatic) {
    return io::read_weight_file(path, "identity", block.size(), in_order, memory);
}
bool is_block(const io::WeightFile& file) {
    return file.owner != nullptr && std::vector<std::byte>(file.block.begin(), file.block.end()) == block;
}

bool has(const std::string& text, std::string_view part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

unsigned mode_of(const std::filesystem::path& path) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode & 0777U;
}

/// The umask of a user who shares all files with a group.
class OpenUmask {
public:
    OpenUmask() : before_(::umask(0)) {}
    OpenUmask(const OpenUmask&) = delete;
    OpenUmask& operator=(const OpenUmask&) = delete;
    ~OpenUmask() { ::umask(before_); }

private:
    ::mode_t before_;
};

}  // namespace

TEST_CASE("trusted file: the owner and the permissions decide") {
    struct stat status {};
    status.st_mode = S_IFREG | 0644;
    status.st_uid = 1000;
    status.st_gid = 7;
    CHECK(io::reason_to_distrust(status, 1000).empty());
    CHECK(has(io::reason_to_distrust(status, 1001), "belongs to user 1000, and this process runs as user 1001"));
    CHECK(has(io::reason_to_distrust(status, 0), "belongs to user 1000"));
    status.st_mode = S_IFREG | 0664;
    CHECK(has(io::reason_to_distrust(status, 1000), "group 7 may write to it"));
    status.st_mode = S_IFREG | 0646;
    CHECK(has(io::reason_to_distrust(status, 1000), "everybody may write to it"));
    status.st_mode = S_IFREG | 0600;
    status.st_uid = 0;
    CHECK(io::reason_to_distrust(status, 1000).empty());
    status.st_mode = S_IFIFO | 0600;
    CHECK(has(io::reason_to_distrust(status, 1000), "not a regular file"));
    status.st_mode = S_IFDIR | 0775;
    CHECK(has(io::reason_to_distrust(status, 1000), "group 7 may write to it"));
    status.st_mode = S_IFDIR | 01777;  // as /tmp: nobody can replace what is another's
    CHECK(io::reason_to_distrust(status, 1000).empty());
    status.st_mode = S_IFREG | 01666;  // of a file that says nothing
    CHECK(has(io::reason_to_distrust(status, 1000), "everybody may write to it (o+w, mode 1666)"));
    status.st_mode = S_IFDIR | 01777;
    status.st_uid = 1001;
    CHECK(has(io::reason_to_distrust(status, 1000), "belongs to user 1001"));
}

TEST_CASE("trusted file: what a group may write to is neither mapped nor copied, be it this process's own group") {
    const ScratchFolder folder;
    const auto path = folder.path() / "weights";
    write_weights(path);
    REQUIRE(::chown(path.c_str(), ::geteuid(), ::getegid()) == 0);
    REQUIRE(::chmod(path.c_str(), 0664) == 0);
    for (const io::WeightMemory memory : {io::WeightMemory::automatic, io::WeightMemory::copied}) {
        const io::WeightFile file = read_weights(path, memory);
        CHECK(file.owner == nullptr);
        CHECK(file.block.empty());
        CHECK(has(file.ignored,
                  "is ignored: group " + std::to_string(::getegid()) + " may write to it (g+w, mode 664)."));
    }
    write_weights(path);
    CHECK(is_block(read_weights(path)));
}

TEST_CASE("trusted file: nothing is read from a folder that others may write to, nor put there") {
    const ScratchFolder scratch;
    const auto folder = scratch.path() / "shared";
    REQUIRE(io::make_own_folders(folder) == std::error_code());
    const auto weights = folder / "weights";
    const auto records = folder / "records";
    write_weights(weights);
    REQUIRE(io::update_cache_file(records, "identity", {{"a", "1"}}).empty());
    REQUIRE(is_block(read_weights(weights)));
    for (const ::mode_t mode : {0775U, 0757U}) {
        REQUIRE(::chmod(folder.c_str(), mode) == 0);
        CHECK(has(read_weights(weights).ignored, "of its folder: "));
        CHECK(has(io::read_cache_file(records, "identity").ignored, "may write to it"));
        const std::string refused = io::update_cache_file(records, "identity", {{"b", "2"}});
        CHECK(has(refused, "shared' is not used: "));
        CHECK(has(refused, "chmod go-w"));
        io::WeightFolder others(scratch.path(), "shared", {.most_bytes = 10000, .free_bytes = 0});
        CHECK(has(others.make_room(1), "may write to it"));
    }
    REQUIRE(::chmod(folder.c_str(), 0755) == 0);
    CHECK(is_block(read_weights(weights)));
    CHECK(io::read_cache_file(records, "identity").records == io::CacheRecords{{"a", "1"}});
}

TEST_CASE("trusted file: folders that are made are their owner's to write, whatever the umask") {
    const ScratchFolder scratch;
    const OpenUmask umask;
    REQUIRE(io::make_own_folders(scratch.path() / "a" / "b" / "") == std::error_code());
    CHECK(mode_of(scratch.path() / "a") == 0755U);
    CHECK(mode_of(scratch.path() / "a" / "b") == 0755U);
    CHECK(io::make_own_folders(scratch.path() / "a" / ".." / "a") == std::error_code());
    const auto plain = scratch.file("plain", "content");
    CHECK(io::make_own_folders(plain));
    CHECK(io::make_own_folders(plain / "below"));
    CHECK(io::make_own_folders("/proc/nowhere/at/all"));
    REQUIRE(io::update_cache_file(scratch.path() / "c" / "records", "identity", {{"a", "1"}}).empty());
    CHECK(mode_of(scratch.path() / "c") == 0755U);
    io::WeightFolder folder(scratch.path() / "d", "set", {.most_bytes = 10000, .free_bytes = 0});
    REQUIRE(folder.make_room(1).empty());
    CHECK(mode_of(scratch.path() / "d" / "set") == 0755U);
}

TEST_CASE("trusted file: files that others can write to are ignored and replaced") {
    const ScratchFolder folder;
    const OpenUmask umask;
    const auto weights = folder.path() / "weights";
    const auto records = folder.path() / "records";
    write_weights(weights);
    REQUIRE(io::update_cache_file(records, "identity", {{"a", "1"}}).empty());
    CHECK(mode_of(weights) == 0444U);  // whatever the umask; who has them mapped counts on it that nobody writes
    CHECK(mode_of(records) == 0644U);
    for (const auto& path : {weights, records}) {
        REQUIRE(::chmod(path.c_str(), 0666) == 0);
    }
    CHECK(has(read_weights(weights).ignored, "everybody may write to it"));
    CHECK(has(io::read_cache_file(records, "identity").ignored, "everybody may write to it"));
    write_weights(weights);
    REQUIRE(io::update_cache_file(records, "identity", {{"b", "2"}}).empty());
    CHECK(is_block(read_weights(weights)));
    CHECK(io::read_cache_file(records, "identity").records == io::CacheRecords{{"b", "2"}});
    CHECK(mode_of(records) == 0644U);
    // Permissions that the owner has chosen stay.
    REQUIRE(::chmod(records.c_str(), 0600) == 0);
    REQUIRE(io::update_cache_file(records, "identity", {{"c", "3"}}).empty());
    CHECK(mode_of(records) == 0600U);
}

TEST_CASE("trusted file: files of another user are ignored and replaced") {
    if (::geteuid() != 0) {
        return;  // nobody else can give files away; the rule itself is tested above
    }
    const ScratchFolder folder;
    const auto path = folder.path() / "weights";
    write_weights(path);
    REQUIRE(::chown(path.c_str(), 54321, 54321) == 0);
    const io::WeightFile file = read_weights(path);
    CHECK(file.exists);
    CHECK(has(file.ignored, "is ignored: it belongs to user 54321, and this process runs as user 0."));
    write_weights(path);
    CHECK(is_block(read_weights(path)));
}

TEST_CASE("trusted file: a link is neither read nor written through") {
    const ScratchFolder folder;
    const auto victim = folder.file("victim", "precious");
    const auto weights = folder.path() / "weights";
    std::filesystem::create_symlink(victim, weights);
    CHECK(has(read_weights(weights).ignored, "symbolic link"));
    write_weights(weights);
    CHECK(content_of(victim) == "precious");
    CHECK(is_block(read_weights(weights)));
    const auto records = folder.path() / "records";
    std::filesystem::create_symlink(victim, records);
    CHECK(has(io::read_cache_file(records, "identity").ignored, "symbolic link"));
    REQUIRE(io::update_cache_file(records, "identity", {{"a", "1"}}).empty());
    CHECK(content_of(victim) == "precious");
    CHECK(io::read_cache_file(records, "identity").records.size() == 1);
    // Nor does a link that leads nowhere make a file there.
    const auto lock = folder.path() / "lock";
    std::filesystem::create_symlink(folder.path() / "made", lock);
    CHECK_FALSE(io::FileLock(lock, std::chrono::milliseconds(1)).is_held());
    CHECK_FALSE(std::filesystem::exists(folder.path() / "made"));
}

TEST_CASE("weight file: a copy is the block, and no change of the file shows in it") {
    const ScratchFolder folder;
    const auto path = folder.path() / "weights";
    write_weights(path);
    const io::WeightFile copy = read_weights(path, io::WeightMemory::copied);
    CHECK(is_block(copy));
    CHECK(reinterpret_cast<std::uintptr_t>(copy.block.data()) % buffer_alignment == 0);
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    std::filesystem::resize_file(path, 0);  // a mapped one would end the process
    CHECK(is_block(copy));
    const std::string good = (write_weights(path), content_of(path));
    std::string damaged = good;
    damaged[4200] ^= 1;
    CHECK(has(read_weights(folder.file("damaged", damaged), io::WeightMemory::copied).ignored, "checksum"));
    const auto huge = folder.file("huge", good);
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 40U);  // sparse: it must not be read into memory
    CHECK(has(read_weights(huge, io::WeightMemory::copied).ignored, "it holds 1099511627776 bytes"));
}

TEST_CASE("weight file: only the file systems that are known to keep what is mapped are mapped") {
    const io::FileDescriptor unknown(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    REQUIRE(unknown);
    CHECK_FALSE(io::keeps_mapped_files(unknown));
    CHECK_FALSE(io::keeps_mapped_files(io::FileDescriptor()));
}
