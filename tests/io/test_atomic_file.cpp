// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <totograph/io/atomic_file.hpp>

#include "support.hpp"

namespace {

/// What was put on the disk, in order, as the system names it.
std::vector<std::string> flushed;

}  // namespace

/// The system's call, watched.
// NOLINTNEXTLINE(readability-identifier-naming): the name is the system's.
extern "C" int fsync(int descriptor) {
    std::error_code failed;
    flushed.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), failed).string());
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::content_of;
using totograph::test::FileSizeLimit;
using totograph::test::ScratchFolder;

}  // namespace

TEST_CASE("atomic file: the file appears at the commit and not before") {
    const ScratchFolder folder;
    const auto path = folder.path() / "out.txt";
    {
        io::AtomicFile file(path);
        file.write("hello ");
        file.write("world");
        file.write("");
        CHECK_FALSE(std::filesystem::exists(path));
        file.commit();
    }
    CHECK(content_of(path) == "hello world");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("atomic file: without a commit what was there stays and nothing is left behind") {
    const ScratchFolder folder;
    const auto path = folder.file("out.txt", "old");
    {
        io::AtomicFile file(path);
        file.write("new");
        CHECK(content_of(path) == "old");
    }
    CHECK(content_of(path) == "old");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("atomic file: a write that fails half way leaves the old file and no temporary one") {
    const ScratchFolder folder;
    const auto path = folder.file("out.txt", "old");
    check_error(ErrorCode::io_failure, {"out.txt", "writing failed", "File too large"}, [&] {
        const FileSizeLimit limit(1U << 20U);
        io::AtomicFile file(path);
        file.write(std::string(4U << 20U, 'x'));
        file.commit();
    });
    CHECK(content_of(path) == "old");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("atomic file: a rename that fails is an error and leaves no temporary file") {
    const ScratchFolder folder;
    const auto path = folder.path() / "out";
    check_error(ErrorCode::io_failure, {"renaming"}, [&] {
        io::AtomicFile file(path);
        std::filesystem::create_directories(path / "now a directory");
        file.commit();
    });
    CHECK(folder.file_count() == 1);
}

TEST_CASE("atomic file: directories and devices are not replaced") {
    const ScratchFolder folder;
    check_error(ErrorCode::invalid_argument, {folder.path().string(), "not a regular file"},
                [&] { io::AtomicFile file(folder.path()); });
    check_error(ErrorCode::invalid_argument, {"/dev/null", "not a regular file"},
                [] { io::AtomicFile file("/dev/null"); });
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("atomic file: a missing directory is named with the system's reason") {
    const ScratchFolder folder;
    check_error(ErrorCode::file_not_found, {"missing/out.txt", "No such file or directory", "directory exists"},
                [&] { io::AtomicFile file(folder.path() / "missing" / "out.txt"); });
    check_error(ErrorCode::file_not_found, {"Not a directory"},
                [&] { io::AtomicFile file(folder.file("plain", "") / "out.txt"); });
}

TEST_CASE("atomic file: permissions and symbolic links of a replaced file survive") {
    const ScratchFolder folder;
    const auto target = folder.file("target", "old");
    REQUIRE(::chmod(target.c_str(), 0740) == 0);
    std::filesystem::create_symlink(target, folder.path() / "link");
    io::AtomicFile file(folder.path() / "link");
    file.write("new");
    file.commit();
    CHECK(content_of(target) == "new");
    CHECK(std::filesystem::is_symlink(folder.path() / "link"));
    CHECK(static_cast<unsigned>(std::filesystem::status(target).permissions()) == 0740U);
}

TEST_CASE("atomic file: a path without a directory is written in the current one") {
    const ScratchFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    io::AtomicFile file("plain.txt");
    file.write("x");
    file.commit();
    std::filesystem::current_path(before);
    CHECK(content_of(folder.path() / "plain.txt") == "x");
}

TEST_CASE("atomic file: permissions are those of the file that is replaced, or of a new one") {
    const ScratchFolder folder;
    const auto path = folder.file("out.txt", "old");
    const auto mode_of_others = [&] {
        struct stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        return status.st_mode & 0777U;
    };
    const unsigned usual = mode_of_others();
    REQUIRE(usual != 0740U);  // a new file cannot be run
    REQUIRE(::chmod(path.c_str(), 0740) == 0);
    io::AtomicFile kept(path);
    kept.commit();
    CHECK(mode_of_others() == 0740U);
    io::AtomicFile fresh(path, {.keeps_permissions = false, .flushes = false});
    fresh.write("new");
    fresh.commit();
    CHECK(mode_of_others() == usual);
    CHECK(content_of(path) == "new");
}

TEST_CASE("atomic file: first the content is put on the disk, then the name") {
    const ScratchFolder folder;
    const auto path = std::filesystem::canonical(folder.path()) / "out.txt";
    flushed.clear();
    io::AtomicFile file(path);
    file.write("content");
    file.commit();
    REQUIRE(flushed.size() == 2);
    CHECK(flushed[0].starts_with(path.string() + ".tmp-"));
    CHECK(flushed[1] == path.parent_path().string());
    flushed.clear();
    io::AtomicFile hurried(path, {.flushes = false});
    hurried.commit();
    CHECK(flushed.empty());
}
