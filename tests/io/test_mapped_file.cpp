// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <utility>

#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/mapped_file.hpp>

#include "support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::ScratchFolder;

}  // namespace

TEST_CASE("mapped file: the bytes are those of the file and follow a move") {
    const ScratchFolder folder;
    io::MappedFile file(folder.file("a", "abc"));
    REQUIRE(file.bytes().size() == 3);
    CHECK(file.bytes()[2] == std::byte{'c'});
    io::MappedFile moved(std::move(file));
    CHECK(moved.bytes().size() == 3);
    io::MappedFile assigned(folder.file("b", "x"));
    assigned = std::move(moved);
    CHECK(assigned.bytes()[0] == std::byte{'a'});
    CHECK(assigned.path().ends_with("/a"));
}

TEST_CASE("mapped file: missing, empty and special files are refused") {
    const ScratchFolder folder;
    check_error(ErrorCode::file_not_found, {"absent", "cannot be opened"},
                [&] { io::MappedFile(folder.path() / "absent"); });
    check_error(ErrorCode::file_not_found, {"is a directory"}, [&] { io::MappedFile file(folder.path()); });
    check_error(ErrorCode::file_not_found, {"/dev/null", "not a regular file"},
                [] { io::MappedFile file("/dev/null"); });
    check_error(ErrorCode::invalid_file, {"is empty"}, [&] { io::MappedFile file(folder.file("empty", "")); });
}

TEST_CASE("file descriptor: closing twice is harmless and a move empties its source") {
    const ScratchFolder folder;
    struct stat status {};
    io::FileDescriptor file = io::open_for_reading(folder.file("a", "abc"), status);
    CHECK(status.st_size == 3);
    io::FileDescriptor moved(std::move(file));
    CHECK(static_cast<bool>(moved));
    CHECK(moved.get() >= 0);
    CHECK(moved.close() == 0);
    CHECK_FALSE(static_cast<bool>(moved));
    CHECK(moved.close() == 0);
}
