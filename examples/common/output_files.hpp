// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/atomic_file.hpp>
#include <totograph/io/text.hpp>

namespace examples {

/// Output files that appear together or not at all: everything is written to temporary files first, and the last step
/// only renames. Errors are those of `totograph::io::AtomicFile`.
class OutputFiles {
public:
    /// Throws as `add` would when a file cannot be created there, so that this is known before long work.
    static void check(const std::filesystem::path& path) { const totograph::io::AtomicFile tried(path); }

    /// Writes one file's whole content beside its place.
    void add(const std::filesystem::path& path, const std::string& content) {
        files_.push_back(std::make_unique<totograph::io::AtomicFile>(path));
        files_.back()->write(content);
    }

    /// Puts all files in their places.
    void commit() {
        for (const auto& file : files_) {
            file->commit();
        }
        files_.clear();
    }

private:
    std::vector<std::unique_ptr<totograph::io::AtomicFile>> files_;
};

/// Prints all of standard output at once; a full disk or a closed pipe is an error and not a silent loss.
inline void print(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) {
        const int reason = errno;
        throw totograph::Error(totograph::ErrorCode::io_failure,
                               "Standard output cannot be written: " + totograph::io::system_reason(reason) + "." +
                                   (reason == ENOSPC ? " Make room, or print less." : ""));
    }
}

}  // namespace examples
