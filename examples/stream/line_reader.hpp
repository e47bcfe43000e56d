// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>

namespace examples {

/// Reads lines from a file descriptor as they arrive, in bounded memory: of a line that is too long the rest is
/// dropped.
class LineReader {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 20U;

    enum class Result { line, too_long, end };

    explicit LineReader(int descriptor) : descriptor_(descriptor), block_(std::size_t{1} << 16U) {}

    /// The next line without its end; `end` at the end of the input, and when a signal interrupted the waiting: a line
    /// of which only a part has come then is none. Throws `Error(io_failure)`.
    Result next(std::string& line) {
        line.clear();
        bool cut = false;
        while (true) {
            if (const Filled filled = begin_ < end_ ? Filled::some : fill(); filled != Filled::some) {
                const bool is_torn = filled == Filled::interrupted;
                return is_torn || (line.empty() && !cut) ? Result::end : cut ? Result::too_long : Result::line;
            }
            const char byte = block_[begin_++];
            // Lines end with LF, CR, or both.
            const bool is_second = byte == '\n' && std::exchange(after_return_, false);
            after_return_ = byte == '\r';
            if (is_second) {
                continue;
            }
            if (byte == '\n' || byte == '\r') {
                return cut ? Result::too_long : Result::line;
            }
            if (line.size() < longest_line) {
                line += byte;
            } else {
                cut = true;
            }
        }
    }

private:
    enum class Filled { some, end, interrupted };

    Filled fill() {
        const ::ssize_t count = ::read(descriptor_, block_.data(), block_.size());
        if (count < 0 && errno == EINTR) {
            return Filled::interrupted;
        }
        if (count < 0) {
            throw totograph::Error(totograph::ErrorCode::io_failure,
                                   "Standard input cannot be read: " + totograph::io::system_reason(errno) + ".");
        }
        begin_ = 0;
        end_ = static_cast<std::size_t>(count);
        return count > 0 ? Filled::some : Filled::end;
    }

    int descriptor_;
    std::vector<char> block_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool after_return_ = false;  // whether the last byte was CR
};

}  // namespace examples
