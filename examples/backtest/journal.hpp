// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/io/cache/checksum.hpp>
#include <totograph/io/file_descriptor.hpp>
#include <totograph/io/text.hpp>

namespace examples {

/// A file of finished tasks that survives the end of the program at any moment. Each line ends with a checksum of its
/// text; the first names what the results belong to. A line is on the disk before `append` returns. A last line that
/// was torn is cut off, and a damaged one is left out: its task is computed again.
class Journal {
public:
    /// Opens or creates the file. `key` names input and settings. Throws `Error(io_failure)` when the file cannot be
    /// used or another process uses it, and `Error(invalid_argument)` when it holds the results of something else.
    Journal(std::filesystem::path path, const std::string& key) : path_(std::move(path)) {
        do {
            open();
            lock();
        } while (is_removed());
        read(heading(key));
    }

    /// The results found in the file, by the number of their task.
    [[nodiscard]] const std::map<std::int64_t, std::string>& finished() const { return finished_; }
    /// Lines that were there and could not be used.
    [[nodiscard]] std::int64_t damaged() const { return damaged_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Keeps a result, from any thread. Throws `Error(io_failure)` when it is not safely on the disk; what was kept
    /// before stays.
    void append(std::int64_t task, const std::string& result) {
        const std::lock_guard<std::mutex> lock(mutex_);
        write_line(std::to_string(task) + " " + result);
    }

    /// Removes the file: its results are no longer needed.
    void remove() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }

private:
    static constexpr ::off_t most_bytes = ::off_t{1} << 30;

    static std::string heading(const std::string& key) { return "totograph-backtest-1 " + key; }

    /// Calls the system again as long as a signal, such as of a timer, comes in between.
    template <class Call>
    static int uninterrupted(const Call& call) {
        int result = 0;
        do {
            result = call();
        } while (result < 0 && errno == EINTR);
        return result;
    }

    void open() {
        // Without O_NONBLOCK, opening a pipe might wait for ever.
        const int opened =
            uninterrupted([&] { return ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666); });
        file_ = totograph::io::FileDescriptor(opened);
        if (!file_) {
            fail("cannot be opened", "Check its directory, or name another file with --journal.");
        }
        struct stat status {};
        if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
            refuse("is no regular file, so nothing can be kept in it; name another file.");
        }
        if (status.st_size > most_bytes) {
            refuse("holds " + std::to_string(status.st_size) +
                   " bytes, more than any journal; name another file with --journal.");
        }
    }

    /// Whether a run that has ended removed the file after it was opened here: nothing that is written to it is kept.
    [[nodiscard]] bool is_removed() const {
        struct stat status {};
        return ::fstat(file_.get(), &status) == 0 && status.st_nlink == 0;
    }

    /// Keeps other runs out. One that was killed, or a child that it had begun to start, may hold the lock for a moment
    /// more.
    void lock() {
        constexpr int tries = 50;
        for (int i = 0; uninterrupted([&] { return ::flock(file_.get(), LOCK_EX | LOCK_NB); }) != 0; ++i) {
            if (errno != EWOULDBLOCK) {
                fail("cannot be locked", "Name a file on a file system that has locks with --journal.");
            }
            if (i == tries) {
                refuse("is in use by another run. Wait for its end, or name another with --journal.");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }

    [[noreturn]] void fail(const std::string& what, const std::string& advice) const {
        throw totograph::Error(
            totograph::ErrorCode::io_failure,
            "The journal " + shown() + " " + what + ": " + totograph::io::system_reason(errno) + ". " + advice);
    }

    [[nodiscard]] std::string content() const {
        std::string text;
        char block[1 << 16];
        ::ssize_t count = 0;
        while ((count = ::read(file_.get(), block, sizeof(block))) > 0 || (count < 0 && errno == EINTR)) {
            text.append(block, static_cast<std::size_t>(std::max<::ssize_t>(count, 0)));
        }
        if (count < 0) {
            fail("cannot be read", "Check the disk, or name another file with --journal.");
        }
        return text;
    }

    /// The text of a line without its checksum; empty when that is wrong.
    static std::string_view checked(std::string_view line) {
        const std::size_t space = line.rfind(' ');
        const bool right = space != std::string_view::npos &&
                           line.substr(space + 1) == totograph::io::checksum_text(line.substr(0, space));
        return right ? line.substr(0, space) : std::string_view();
    }

    void read(const std::string& wanted_heading) {
        const std::string text = content();
        const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
        std::string_view rest = std::string_view(text).substr(0, whole);
        for (bool first = true; !rest.empty(); first = false) {
            const std::size_t length = rest.find('\n');
            const std::string_view line = checked(rest.substr(0, length));
            rest.remove_prefix(length + 1);
            if (first && line != wanted_heading) {
                refuse_others();
            }
            if (!first) {
                take(line);
            }
        }
        if (whole == 0 && !wanted_heading.starts_with(text.substr(0, wanted_heading.size()))) {
            refuse_others();  // not even a heading that was torn
        }
        damaged_ += whole < text.size() ? 1 : 0;
        end_ = static_cast<::off_t>(whole);
        if (uninterrupted([&] { return ::ftruncate(file_.get(), end_); }) != 0 ||
            ::lseek(file_.get(), end_, SEEK_SET) != end_) {
            fail("cannot be written", "Name another file with --journal.");
        }
        if (whole == 0) {
            damaged_ = 0;  // a torn heading is no result
            write_line(wanted_heading);
            if (errno = totograph::io::flush_name(path_); errno != 0) {
                fail("cannot be kept", "Check the disk, or name another file with --journal.");
            }
        }
    }

    [[nodiscard]] std::string shown() const {
        return totograph::io::in_quotes(path_.string(), totograph::io::longest_quote);
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw totograph::Error(totograph::ErrorCode::io_failure, "The journal " + shown() + " " + why);
    }

    [[noreturn]] void refuse_others() const {
        throw totograph::Error(totograph::ErrorCode::invalid_argument,
                               "The file " + shown() +
                                   " is not the journal of this run: it belongs to another input, model or other "
                                   "settings. Remove it, or name another with --journal.");
    }

    void take(std::string_view line) {
        std::int64_t task = 0;
        const auto read = std::from_chars(line.data(), line.data() + line.size(), task);
        if (line.empty() || read.ec != std::errc() || read.ptr == line.data() + line.size()) {
            ++damaged_;
            return;
        }
        finished_[task] = std::string(line.substr(static_cast<std::size_t>(read.ptr - line.data()) + 1));
    }

    void write_line(const std::string& text) {
        const std::string line = text + " " + totograph::io::checksum_text(text) + "\n";
        std::string_view rest = line;
        while (!rest.empty()) {
            const ::ssize_t count = ::write(file_.get(), rest.data(), rest.size());
            if (count < 0 && errno != EINTR) {
                give_back();
            }
            rest.remove_prefix(static_cast<std::size_t>(std::max<::ssize_t>(count, 0)));
        }
        if (uninterrupted([&] { return ::fdatasync(file_.get()); }) != 0) {
            give_back();
        }
        end_ += static_cast<::off_t>(line.size());
    }

    /// Cuts off a line that was not written in full, and says why.
    [[noreturn]] void give_back() {
        const int reason = errno;
        if (::ftruncate(file_.get(), end_) == 0) {
            ::lseek(file_.get(), end_, SEEK_SET);
        }
        errno = reason;
        fail("cannot be written", "Finished windows are kept; make room and repeat the command to go on.");
    }

    std::filesystem::path path_;
    totograph::io::FileDescriptor file_;
    ::off_t end_ = 0;
    std::mutex mutex_;
    std::map<std::int64_t, std::string> finished_;
    std::int64_t damaged_ = 0;
};

}  // namespace examples
