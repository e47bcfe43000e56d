// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>

#include <totograph/io/random_access_file.hpp>

#include "support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::ScratchFolder;

std::string read(const io::RandomAccessFile& file, std::size_t offset, std::size_t count) {
    std::string text(count, '?');
    file.read(offset, std::as_writable_bytes(std::span(text)));
    return text;
}

}  // namespace

TEST_CASE("random access file: any range, also after a move, a removal and a rename over it") {
    const ScratchFolder folder;
    const auto path = folder.file("a", "0123456789");
    io::RandomAccessFile opened(path);
    CHECK(opened.size() == 10);
    CHECK(opened.path() == path);
    CHECK(read(opened, 0, 10) == "0123456789");
    CHECK(read(opened, 7, 3) == "789");
    CHECK(read(opened, 10, 0).empty());
    const io::RandomAccessFile file(std::move(opened));
    std::filesystem::rename(folder.file("b", "another"), path);
    CHECK(read(file, 3, 2) == "34");
    std::filesystem::remove(path);
    CHECK(read(file, 3, 2) == "34");
}

TEST_CASE("random access file: a change of the content is an error at the next read, and so is the end") {
    const ScratchFolder folder;
    const auto path = folder.file("a", std::string(20'000, 'x'));
    {
        const io::RandomAccessFile file(path);
        check_error(ErrorCode::io_failure, {"ends at byte 20000"}, [&] { (void)read(file, 19'999, 2); });
        check_error(ErrorCode::io_failure, {"ends at byte 30000"}, [&] { (void)read(file, 30'000, 1); });
        const auto written = std::filesystem::last_write_time(path);
        std::filesystem::resize_file(path, 10'000);
        std::filesystem::last_write_time(path, written);  // the size alone tells
        check_error(ErrorCode::io_failure, {"'" + path.string() + "'", "20000 bytes when it was opened and has 10000"},
                    [&] { (void)read(file, 15'000, 10); });
        // What is still there may be of another content.
        check_error(ErrorCode::io_failure, {"was written to"}, [&] { (void)read(file, 0, 10); });
    }
    const io::RandomAccessFile file(path);
    std::ofstream(path, std::ios::binary) << std::string(10'000, 'y');
    // Whatever the step of the clock: a moment that the content never had before.
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
    check_error(ErrorCode::io_failure, {"was written to", "has 10000 now"}, [&] { (void)read(file, 0, 10); });
}

TEST_CASE("random access file: what is no regular file is refused, and at once") {
    const ScratchFolder folder;
    check_error(ErrorCode::file_not_found, {"absent", "cannot be opened"},
                [&] { io::RandomAccessFile file(folder.path() / "absent"); });
    check_error(ErrorCode::file_not_found, {"is a directory"}, [&] { io::RandomAccessFile file(folder.path()); });
    check_error(ErrorCode::file_not_found, {"not a regular file"}, [] { io::RandomAccessFile file("/dev/null"); });
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    check_error(ErrorCode::file_not_found, {"not a regular file"}, [&] { io::RandomAccessFile file(pipe); });
    CHECK(io::RandomAccessFile(folder.file("empty", "")).size() == 0);
    if (::geteuid() != 0) {
        const auto closed = folder.file("closed", "x");
        REQUIRE(::chmod(closed.c_str(), 0) == 0);
        check_error(ErrorCode::file_not_found, {"closed", "Permission denied; ask its owner to let this user read it"},
                    [&] { io::RandomAccessFile file(closed); });
    }
}
