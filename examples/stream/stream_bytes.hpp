// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/text_encoding.hpp>
#include <totograph/io/gzip.hpp>
#include <totograph/io/text.hpp>

namespace examples {

/// The bytes of a file descriptor as UTF-8, as they arrive and in bounded memory: unpacked where they begin as gzip
/// does, and converted where they begin as UTF-16 does.
class StreamBytes {
public:
    enum class Filled { some, end, interrupted };

    explicit StreamBytes(int descriptor) : descriptor_(descriptor), block_(std::size_t{1} << 16U) {}

    /// Replaces `text` by what comes next, at least a byte; `interrupted` when a signal ended the waiting. Throws
    /// `Error(io_failure)`, and `Error(invalid_file)` for damaged or torn gzip.
    Filled next(std::string& text) {
        text.clear();
        while (text.empty()) {
            // The first two bytes tell what follows.
            const bool is_short = !has_begun_ && raw_.size() < 2;
            if ((raw_.empty() || is_short) && !has_ended_ && !has_more_) {
                if (!read_block()) {
                    return Filled::interrupted;
                }
                if (!has_ended_ && !has_begun_ && raw_.size() < 2 && raw_ != "\n") {
                    continue;
                }
            }
            begin();
            std::string plain = unpacked();
            if (plain.empty() && raw_.empty() && has_ended_) {
                return Filled::end;
            }
            text = decoded(std::move(plain));
        }
        return Filled::some;
    }

private:
    /// False when a signal ended the waiting.
    bool read_block() {
        const ::ssize_t count = ::read(descriptor_, block_.data(), block_.size());
        if (count < 0 && errno == EINTR) {
            return false;
        }
        if (count < 0) {
            throw totograph::Error(totograph::ErrorCode::io_failure,
                                   "Standard input cannot be read: " + totograph::io::system_reason(errno) + ".");
        }
        raw_.append(block_.data(), static_cast<std::size_t>(count));
        has_ended_ = count == 0;
        return true;
    }

    void begin() {
        if (!has_begun_ && totograph::io::is_gzip(raw_)) {
            gunzip_.emplace("standard input");
        }
        has_begun_ = true;
    }

    std::string unpacked() {
        if (!gunzip_) {
            return std::exchange(raw_, {});
        }
        std::string plain;
        std::string_view rest = raw_;
        has_more_ = gunzip_->unpack(rest, plain);
        raw_.erase(0, raw_.size() - rest.size());
        if (has_ended_ && raw_.empty() && plain.empty()) {
            gunzip_->finish();
        }
        return plain;
    }

    std::string decoded(std::string plain) {
        using namespace totograph::io;
        plain.insert(0, std::exchange(half_, {}));
        if (!encoding_) {
            const EncodingMark mark = encoding_of(plain);
            encoding_ = mark.encoding;
            // The mark of UTF-8 is left to the reader of the header, which may follow a comment.
            plain.erase(0, mark.encoding == TextEncoding::utf8 ? 0 : mark.length);
        }
        if (*encoding_ == TextEncoding::utf8) {
            return plain;
        }
        std::size_t size = plain.size() / 2 * 2;
        if (size >= 2) {
            const std::size_t high = size - (*encoding_ == TextEncoding::utf16_little_endian ? 1 : 2);
            const bool is_first_half = (static_cast<unsigned char>(plain[high]) & 0xFCU) == 0xD8U;
            size -= is_first_half && !has_ended_ ? 2 : 0;
        }
        half_ = plain.substr(size);
        return utf8_of_utf16(std::string_view(plain).substr(0, size), *encoding_);
    }

    int descriptor_;
    std::vector<char> block_;
    std::string raw_;   // as it was read
    std::string half_;  // of a character whose rest has not come
    std::optional<totograph::io::TextEncoding> encoding_;
    std::optional<totograph::io::GunzipStream> gunzip_;
    bool has_more_ = false;  // whether packed bytes that were read hold more
    bool has_begun_ = false;
    bool has_ended_ = false;
};

}  // namespace examples
