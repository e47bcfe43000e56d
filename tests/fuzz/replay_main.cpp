// SPDX-License-Identifier: Apache-2.0
// Feeds the files and folders named on the command line to a fuzz target, for compilers without libFuzzer.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw std::runtime_error("The file " + path.string() + " cannot be opened.");
    }
    const std::vector<char> content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    // Said before the run, so that a crash names its input.
    std::cout << path.string() << " (" << content.size() << " bytes)" << std::endl;
    // Never null, as libFuzzer has it too.
    const std::vector<std::uint8_t> nothing(1);
    LLVMFuzzerTestOneInput(content.empty() ? nothing.data() : reinterpret_cast<const std::uint8_t*>(content.data()),
                           content.size());
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        std::size_t count = 0;
        for (int index = 1; index < argument_count; ++index) {
            const std::filesystem::path path = arguments[index];
            if (!std::filesystem::is_directory(path)) {
                replay(path);
                ++count;
                continue;
            }
            for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
                if (entry.is_regular_file()) {
                    replay(entry.path());
                    ++count;
                }
            }
        }
        if (count == 0) {
            throw std::runtime_error("No input was found. Name files or folders to replay.");
        }
        std::cout << count << " inputs replayed\n";
        return 0;
    } catch (const std::exception& exception) {
        std::cerr << exception.what() << '\n';
        return 1;
    }
}
