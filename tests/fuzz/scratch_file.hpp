// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "require.hpp"

namespace fuzz {

/// A file of this process alone, in memory where the machine has such a folder.
class ScratchFile {
public:
    explicit ScratchFile(const std::string& extension)
        : path_((::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path()) /
                ("totograph-fuzz-" + std::to_string(::getpid()) + extension)) {}
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
    ~ScratchFile() { std::filesystem::remove(path_); }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    void set(std::string_view content) const {
        std::ofstream stream(path_, std::ios::binary | std::ios::trunc);
        stream << content;
        stream.close();
        require(stream.good());
    }

private:
    std::filesystem::path path_;
};

}  // namespace fuzz
