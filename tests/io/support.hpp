// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <totograph/core/error.hpp>

namespace totograph::test {

/// A new empty folder for temporary files, removed with all it holds at the end. As long as it is there, new files are
/// the owner's to write alone, whatever the umask of the one who runs the tests: cache files of others are refused.
class ScratchFolder {
public:
    ScratchFolder() : umask_(::umask(S_IWGRP | S_IWOTH)) {
        static std::atomic<int> counter{0};
        // Tests run side by side, as processes of their own.
        path_ = std::filesystem::temp_directory_path() /
                ("totograph-io-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
        ::umask(umask_);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Writes a file and returns its path.
    std::filesystem::path file(const std::string& name, std::string_view content) const {
        std::ofstream stream(path_ / name, std::ios::binary);
        stream << content;
        stream.close();
        REQUIRE(stream.good());
        return path_ / name;
    }

    /// The number of files that lie in the folder.
    [[nodiscard]] auto file_count() const {
        return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
    }

private:
    ::mode_t umask_;
    std::filesystem::path path_;
};

/// Lets this process write no file beyond some bytes, as a full disk would; undone at the end.
class FileSizeLimit {
public:
    explicit FileSizeLimit(::rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        struct rlimit limit = before_;
        limit.rlim_cur = bytes;
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    struct rlimit before_ {};
    void (*handler_)(int);
};

/// The content of a file.
inline std::string content_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    REQUIRE(stream.good());
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Checks that the action throws an `Error` of this code, whose message holds each of the parts.
template <class Action>
void check_error(ErrorCode code, std::initializer_list<std::string_view> parts, Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        const std::string message = error.what();
        CAPTURE(message);
        CHECK(std::string(name(error.code())) == std::string(name(code)));
        for (const std::string_view part : parts) {
            CAPTURE(std::string(part));
            CHECK(message.find(part) != std::string::npos);
        }
        return;
    }
    FAIL_CHECK("nothing was thrown, but an error was expected: ", std::string(name(code)));
}

}  // namespace totograph::test
