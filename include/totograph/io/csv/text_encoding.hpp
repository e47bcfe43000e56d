// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace totograph::io {

/// How the bytes of a text make characters.
enum class TextEncoding { utf8, utf16_little_endian, utf16_big_endian };

/// What a text begins with.
struct EncodingMark {
    TextEncoding encoding = TextEncoding::utf8;
    std::size_t length = 0;  ///< Bytes of the byte order mark.
};

/// The encoding that a byte order mark names; without one, UTF-16 shows itself by the empty halves of its first two
/// characters.
EncodingMark encoding_of(std::string_view text);

namespace detail {

void append_utf8(std::string& text, std::uint32_t code_point);

}  // namespace detail

/// UTF-16 (without its mark) as UTF-8; halves of characters become U+FFFD.
std::string utf8_of_utf16(std::string_view text, TextEncoding encoding);

/// A text without its mark, as UTF-8; `decoded` holds it where it was UTF-16.
std::string_view as_utf8(std::string_view text, std::string& decoded);

/// Throws `Error(invalid_file)` where the first bytes are those of a compressed or packed file, with what to do.
void refuse_packed(std::string_view text, std::string_view file_name);

/// Throws `Error(invalid_file)` where a text is JSON, or a page or other document in HTML or XML, with what to do.
void refuse_markup(std::string_view text, std::string_view file_name);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/text_encoding.hpp>
#endif
