// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "stream_bytes.hpp"

namespace examples {

/// Reads lines from a file descriptor as they arrive, in bounded memory: of a line that is too long the rest is
/// dropped. They may be packed by gzip, or in UTF-16.
class LineReader {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 20U;

    enum class Result { line, too_long, end };

    explicit LineReader(int descriptor) : bytes_(descriptor) {}

    /// The next line without its end; `end` at the end of the input, and when a signal interrupted the waiting: a line
    /// of which only a part has come then is none. Throws `Error(io_failure)`, and
    /// `Error(invalid_file)` for damaged gzip.
    Result next(std::string& line) {
        line.clear();
        bool cut = false;
        while (true) {
            using Filled = StreamBytes::Filled;
            if (const Filled filled = begin_ < block_.size() ? Filled::some : fill(); filled != Filled::some) {
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
    StreamBytes::Filled fill() {
        begin_ = 0;
        return bytes_.next(block_);
    }

    StreamBytes bytes_;
    std::string block_;
    std::size_t begin_ = 0;
    bool after_return_ = false;  // whether the last byte was CR
};

}  // namespace examples
