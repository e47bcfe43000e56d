// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "common/check_files.hpp"
#include "io/support.hpp"
#include "support/refusal.hpp"

// An output never takes the place of an input, or of another output.

namespace {

using examples::detail::check_files;
using examples::detail::NamedPath;

/// A folder with a folder `below` and a file `input.csv`.
class InputFolder : public totograph::test::ScratchFolder {
public:
    InputFolder() {
        std::filesystem::create_directory(path() / "below");
        (void)file("input.csv", "a\n1\n");
    }
};

std::string refused(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs) {
    return refusal([&] { check_files(outputs, inputs); });
}

}  // namespace

TEST_CASE("an output is no input") {
    const InputFolder folder;
    const std::filesystem::path input = folder.path() / "input.csv";
    std::filesystem::create_symlink(input, folder.path() / "link.csv");
    CHECK(refused({{"--output", input}}, {{"input", input}}) ==
          "--output is the input file itself, which would be lost; name another file.");
    for (const std::filesystem::path& same :
         {folder.path() / "link.csv", folder.path() / "below" / ".." / "input.csv", std::filesystem::relative(input)}) {
        CAPTURE(same);
        CHECK_FALSE(refused({{"--output", ""}, {"--svg", same}}, {{"input", input}}).empty());
    }
    CHECK(refused({{"--output", input}}, {{"input", "other.txt"}, {"pixels", input}}).find("the pixels file itself") !=
          std::string::npos);
    CHECK(refused({{"--output", "a.csv"}}, {{"input", "./a.csv"}}).find("input file itself") != std::string::npos);
    CHECK(refused({{"--output", folder.path() / "output.csv"}}, {{"input", input}, {"pixels", ""}}).empty());
}

TEST_CASE("an output is no file of an input folder") {
    const InputFolder folder;
    CHECK(refused({{"--output", folder.path() / "input.csv"}}, {{"input", folder.path()}}) ==
          "--output is a file of the input folder, which would be lost; name another file.");
    CHECK(refused({{"--output", folder.path() / "output.csv"}}, {{"input", folder.path()}}).empty());
    CHECK(refused({{"--output", "output.csv"}}, {{"input", folder.path() / "nowhere"}}).empty());
}

TEST_CASE("two outputs are two files") {
    const InputFolder folder;
    CHECK(refused({{"--output", folder.path() / "x"}, {"--svg", folder.path() / "below" / ".." / "x"}}, {}) ==
          "--output and --svg are the same file; name two.");
    CHECK(refused({{"--output", "x"}, {"--svg", ""}, {"--dot", std::filesystem::absolute("x")}}, {}) ==
          "--output and --dot are the same file; name two.");
    CHECK(refused({{"--output", "x"}, {"--svg", "y"}, {"--dot", ""}, {"--html", ""}}, {}).empty());
}

TEST_CASE("standard output and standard input are no files") {
    CHECK(refused({{"--output", "-", true}}, {{"input", "-"}}).empty());
    CHECK(refused({{"--output", "x.csv"}}, {{"input", "-"}}).empty());
}

TEST_CASE("an output that cannot be printed is no file called -") {
    CHECK(refused({{"--output", "-", true}, {"--svg", "-"}}, {{"input", "-"}}) ==
          "--svg needs a file, and cannot go to standard output; name one (./- is one called '-').");
    CHECK(refused({{"--svg", "./-"}}, {{"input", "-"}}).empty());
}
