// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/text_file.hpp>

#include "support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::ScratchFolder;

}  // namespace

TEST_CASE("text file: content of every size is read whole") {
    const ScratchFolder folder;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{65535}, std::size_t{65536},
                                   std::size_t{65537}, std::size_t{1'000'003}}) {
        CAPTURE(size);
        std::string content(size, 'x');
        for (std::size_t index = 0; index < size; index += 97) {
            content[index] = static_cast<char>('a' + index % 26);
        }
        content += '\0';
        const auto path = folder.file("text", content);
        CHECK(io::read_text_file(path, content.size()) == content);
        check_error(ErrorCode::invalid_file, {"text", "more than the " + std::to_string(size) + " bytes"},
                    [&] { io::read_text_file(path, size); });
    }
}

TEST_CASE("text file: a pipe is read to its end") {
    const ScratchFolder folder;
    const auto path = folder.path() / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const std::string content(300'000, 'y');
    std::thread writer([&] { std::ofstream(path) << content; });
    const std::string text = io::read_text_file(path, 1'000'000);
    writer.join();
    CHECK(text == content);
}

TEST_CASE("text file: files that cannot be read are refused by name and reason") {
    const ScratchFolder folder;
    check_error(ErrorCode::file_not_found, {"absent.json", "No such file or directory"},
                [&] { io::read_text_file(folder.path() / "absent.json", 100); });
    check_error(ErrorCode::file_not_found, {folder.path().string(), "is a directory"},
                [&] { io::read_text_file(folder.path(), 100); });
    check_error(ErrorCode::invalid_file, {"/dev/zero", "more than"},
                [] { io::read_text_file("/dev/zero", 1'000'000); });
}

TEST_CASE("text file: where a regular file is expected, a pipe or a device is refused at once") {
    const ScratchFolder folder;
    CHECK(io::read_regular_text_file(folder.file("plain", "content"), 100) == "content");
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // nobody ever writes to it
    check_error(ErrorCode::file_not_found, {"pipe", "regular file was expected"},
                [&] { io::read_regular_text_file(pipe, 100); });
    check_error(ErrorCode::file_not_found, {"/dev/zero", "regular file was expected"},
                [] { io::read_regular_text_file("/dev/zero", 100); });
    check_error(ErrorCode::file_not_found, {"regular file was expected"}, [&] { const io::ModelConfig config(pipe); });
    const auto loop = folder.path() / "loop";
    std::filesystem::create_symlink(loop, loop);
    check_error(ErrorCode::file_not_found, {"loop"}, [&] { io::read_regular_text_file(loop, 100); });
    check_error(ErrorCode::file_not_found, {"cannot be opened"},
                [&] { io::read_regular_text_file(folder.path() / std::string(300, 'n'), 100); });
}
