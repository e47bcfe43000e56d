// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>

// Programs that define TOTOGRAPH_ZLIB link zlib. The library's own target does not need it.
#ifdef TOTOGRAPH_ZLIB
#include <zlib.h>
#endif

namespace totograph::io {

/// Whether bytes begin as those of a file that gzip made.
inline bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

#ifdef TOTOGRAPH_ZLIB
namespace detail {

/// zlib's state, which is given back in the end.
class Inflater {
public:
    Inflater() {
        constexpr int gzip_alone = 16;
        is_ready_ = inflateInit2(&stream_, MAX_WBITS + gzip_alone) == Z_OK;
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() {
        if (is_ready_) {
            inflateEnd(&stream_);
        }
    }
    [[nodiscard]] bool is_ready() const { return is_ready_; }
    z_stream& stream() { return stream_; }

private:
    z_stream stream_{};
    bool is_ready_ = false;
};

}  // namespace detail
#endif

/// What gzip compressed; several such files behind each other are one. `file_name` is the name that messages give it.
///
/// Throws `Error(invalid_file)` for damaged or torn data, for more than `most_bytes`, and where the program was built
/// without zlib.
inline std::string gunzip(std::string_view bytes, std::string_view file_name, std::size_t most_bytes) {
    const auto fail = [&](const std::string& what) {
        throw Error(ErrorCode::invalid_file, "The file " + in_quotes(file_name, longest_quote) + " " + what);
    };
#ifdef TOTOGRAPH_ZLIB
    detail::Inflater inflater;
    if (!inflater.is_ready()) {
        fail("is compressed by gzip, and zlib cannot be used. Unpack it with gunzip first.");
    }
    z_stream& stream = inflater.stream();
    std::string text;
    std::size_t used = 0;
    int status = Z_OK;
    while (true) {
        constexpr std::size_t most_at_once = std::numeric_limits<int>::max();
        if (stream.avail_in == 0) {
            const std::size_t count = std::min(bytes.size(), most_at_once);
            // zlib's interface is older than const.
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
            stream.avail_in = static_cast<uInt>(count);
            bytes.remove_prefix(count);
        }
        if (status == Z_STREAM_END) {
            if (stream.avail_in == 0) {
                text.resize(used);
                return text;
            }
            inflateReset(&stream);
        }
        if (used == text.size()) {
            text.resize(std::min(most_bytes + 1, std::max<std::size_t>(2 * used, 65536)));
        }
        const std::size_t room = std::min(text.size() - used, most_at_once);
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + used);
        stream.avail_out = static_cast<uInt>(room);
        const bool is_last = stream.avail_in == 0 && bytes.empty();
        status = inflate(&stream, Z_NO_FLUSH);
        used += room - stream.avail_out;
        if (used > most_bytes) {
            fail("holds more than the " + std::to_string(most_bytes) + " bytes that are read at most.");
        }
        if (status != Z_OK && status != Z_STREAM_END) {
            fail(is_last && status == Z_BUF_ERROR ? "ends amid what gzip compressed; it is not whole."
                                                  : "is compressed by gzip, but damaged.");
        }
    }
#else
    static_cast<void>(bytes);
    static_cast<void>(most_bytes);
    fail("is compressed by gzip, which this program was built without zlib to read. Unpack it with gunzip first.");
    return {};
#endif
}

/// Unpacks what gzip compressed as it arrives. Several such files behind each other are one.
class GunzipStream {
public:
    /// `name` is what messages call the input. Throws `Error(invalid_file)` where the program was built without zlib.
    explicit GunzipStream(std::string name) : name_(std::move(name)) {
#ifdef TOTOGRAPH_ZLIB
        if (!inflater_->is_ready()) {
            fail("is compressed by gzip, and zlib cannot be used. Unpack it with gunzip first.");
        }
#else
        fail("is compressed by gzip, which this program was built without zlib to read. Unpack it with gunzip first.");
#endif
    }

    /// Takes bytes off the front of `bytes` and appends what they hold to `text`, at most 64 KiB of it. Whether more
    /// may come without further bytes. Throws `Error(invalid_file)` for damaged data.
    bool unpack(std::string_view& bytes, std::string& text) {
#ifdef TOTOGRAPH_ZLIB
        constexpr std::size_t most = 65536;
        z_stream& stream = inflater_->stream();
        const std::size_t used = text.size();
        text.resize(used + most);
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + used);
        stream.avail_out = static_cast<uInt>(most);
        while (stream.avail_out > 0) {
            if (is_whole_ && !bytes.empty()) {
                inflateReset(&stream);
                is_whole_ = false;
            }
            const std::size_t count = std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max());
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
            stream.avail_in = static_cast<uInt>(count);
            const int status = is_whole_ ? Z_BUF_ERROR : inflate(&stream, Z_SYNC_FLUSH);
            bytes.remove_prefix(count - stream.avail_in);
            if (status == Z_BUF_ERROR) {
                break;  // it needs more bytes
            }
            if (status != Z_OK && status != Z_STREAM_END) {
                fail("is compressed by gzip, but damaged.");
            }
            is_whole_ = status == Z_STREAM_END;
        }
        text.resize(used + most - stream.avail_out);
        return stream.avail_out == 0;
#else
        static_cast<void>(bytes);
        static_cast<void>(text);
        return false;
#endif
    }

    /// Throws `Error(invalid_file)` where the bytes ended too early.
    void finish() const {
        if (!is_whole_) {
            fail("ends amid what gzip compressed; it is not whole.");
        }
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(ErrorCode::invalid_file, "The file " + in_quotes(name_, longest_quote) + " " + what);
    }

    std::string name_;
    bool is_whole_ = false;
#ifdef TOTOGRAPH_ZLIB
    // zlib's state points to itself: it stays where it is.
    std::unique_ptr<detail::Inflater> inflater_ = std::make_unique<detail::Inflater>();
#endif
};

}  // namespace totograph::io
