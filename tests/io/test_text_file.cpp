// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

#include "support.hpp"
#include "totograph/io/text.hpp"
#include "totograph/io/text_file.hpp"

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

TEST_CASE("text: quoted text is short and harmless") {
    CHECK(io::in_quotes("plain \xc3\xa4") == "'plain \xc3\xa4'");
    CHECK(io::in_quotes("\x1b[2J\n\x7f") == "'\\x1b[2J\\x0a\\x7f'");
    CHECK(io::in_quotes("abcdef", 3) == "'abc...'");
    CHECK(io::in_quotes("abc", 3) == "'abc'");
    CHECK(io::in_quotes("") == "''");
}

TEST_CASE("text: blanks at both ends are removed and others kept") {
    CHECK(io::without_blanks(" \ta b\t ") == "a b");
    CHECK(io::without_blanks("a") == "a");
    CHECK(io::without_blanks(" \t ").empty());
    CHECK(io::without_blanks("").empty());
    CHECK(io::without_blanks("\na\n") == "\na\n");
}
