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
#include <vector>

#include "support.hpp"
#include "totograph/core/arena.hpp"
#include "totograph/io/cache_file.hpp"
#include "totograph/io/file_descriptor.hpp"
#include "totograph/io/file_lock.hpp"
#include "totograph/io/file_system.hpp"
#include "totograph/io/trusted_file.hpp"
#include "totograph/io/weight_file.hpp"

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
    const std::vector<::gid_t> groups{5, 6};
    CHECK(io::reason_to_distrust(status, 1000, groups).empty());
    CHECK(
        has(io::reason_to_distrust(status, 1001, groups), "belongs to user 1000, and this process runs as user 1001"));
    CHECK(has(io::reason_to_distrust(status, 0, groups), "belongs to user 1000"));
    status.st_mode = S_IFREG | 0664;
    CHECK(has(io::reason_to_distrust(status, 1000, groups), "group 7 may write to it, which this process is not in"));
    status.st_gid = 6;
    CHECK(io::reason_to_distrust(status, 1000, groups).empty());
    status.st_mode = S_IFREG | 0646;
    CHECK(has(io::reason_to_distrust(status, 1000, groups), "everybody may write to it"));
    status.st_mode = S_IFREG | 0600;
    status.st_uid = 0;
    CHECK(io::reason_to_distrust(status, 1000, groups).empty());
    status.st_mode = S_IFIFO | 0600;
    CHECK(has(io::reason_to_distrust(status, 1000, groups), "not a regular file"));
}

TEST_CASE("trusted file: what a group of this process may write to is copied, not mapped") {
    const ScratchFolder folder;
    const auto path = folder.path() / "weights";
    write_weights(path);
    REQUIRE(::chmod(path.c_str(), 0664) == 0);
    const io::WeightFile file = read_weights(path);
    CHECK(is_block(file));
    std::filesystem::resize_file(path, 0);  // as another member could; it would end a process that has mapped it
    CHECK(is_block(file));
}

TEST_CASE("trusted file: files that others can write to are ignored and replaced") {
    const ScratchFolder folder;
    const OpenUmask umask;
    const auto weights = folder.path() / "weights";
    const auto records = folder.path() / "records";
    write_weights(weights);
    REQUIRE(io::update_cache_file(records, "identity", {{"a", "1"}}).empty());
    for (const auto& path : {weights, records}) {
        CHECK(mode_of(path) == 0644U);  // whatever the umask
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
