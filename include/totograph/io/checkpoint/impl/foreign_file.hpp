// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/checkpoint/foreign_file.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/random_access_file.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool is_text(std::string_view start) {
    constexpr std::size_t longest_character = 4;
    while (!start.empty()) {
        std::uint32_t character = 0;
        const std::size_t length = decode_utf8(start, character);
        if (length == 0) {
            return start.size() < longest_character;  // cut by the end of what was read
        }
        if (character == 0x7f || (character < 0x20 && character != '\t' && character != '\r' && character != '\n')) {
            return false;
        }
        start.remove_prefix(length);
    }
    return true;
}

TOTOGRAPH_INLINE bool begins_as_html(std::string_view start) {
    if (start.starts_with("\xEF\xBB\xBF")) {
        start.remove_prefix(3);
    }
    start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
    std::string lower(start.substr(0, 14));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char character) { return static_cast<char>(std::tolower(character)); });
    return lower.starts_with("<!doctype html") || lower.starts_with("<html") || lower.starts_with("<head");
}

}  // namespace detail

TOTOGRAPH_INLINE std::string foreign_content(std::string_view start) {
    using namespace std::string_view_literals;
    constexpr std::string_view convert =
        ": convert it with tools/convert_checkpoint.py, which makes a folder with model.safetensors and config.json.";
    if (start.size() > 8 && start.substr(4, 5) == "\0\0\0\0{"sv) {
        return {};  // a safetensors file, whatever the length of its header happens to spell
    }
    if (start.starts_with("version https://git-lfs.github.com/")) {
        return "is a Git LFS pointer, which stands for the file itself: run 'git lfs pull' in its repository.";
    }
    if (detail::begins_as_html(start)) {
        return "is a page of HTML, such as a server sends for an error or a login: download the file again.";
    }
    if (start.starts_with("PK\x03\x04")) {
        return "is a zip archive, as torch.save writes checkpoints (.ckpt, .bin, .pt)" + std::string(convert);
    }
    if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) {
        return "is a pickle, as torch.save wrote checkpoints (.ckpt, .bin, .pt)" + std::string(convert);
    }
    if (start.starts_with("\x1f\x8b")) {
        return "is compressed with gzip: decompress it first.";
    }
    if (start.starts_with("\x28\xb5\x2f\xfd") || start.starts_with("\xfd"
                                                                   "7zXZ")) {
        return "is compressed with zstd or xz: decompress it first.";
    }
    if (start.starts_with("\x89HDF")) {
        return "is an HDF5 file, as Keras writes (.h5), but a safetensors file was expected: use the checkpoint as it "
               "was published.";
    }
    if (start.size() > 257 && (start.substr(257, 6) == "ustar\0"sv || start.substr(257, 8) == "ustar  \0"sv)) {
        return "is a tar archive: unpack it first.";
    }
    if (start.starts_with("GGUF")) {
        return "is a GGUF file, but a safetensors file was expected: use the checkpoint as it was published.";
    }
    if (start.size() >= 64 && start.find_first_not_of('\0') == std::string_view::npos) {
        return "begins with zeros, as a download does that was not finished: download the file again.";
    }
    return {};
}

TOTOGRAPH_INLINE std::string foreign_content_of_safetensors(std::string_view start) {
    if (std::string known = foreign_content(start); !known.empty()) {
        return known;
    }
    if (start.size() >= 8 && detail::is_text(start)) {
        return "is text that begins with " + in_quotes(start, 40) +
               ", but a safetensors file was expected: name the file of the weights, or download it again.";
    }
    return {};
}

TOTOGRAPH_INLINE void refuse_foreign(const RandomAccessFile& file, std::string (*foreign)(std::string_view start)) {
    std::string start(std::min(file.size(), foreign_content_bytes), '\0');
    file.read(0, std::as_writable_bytes(std::span(start)));
    const std::string kind = start.empty() ? "is empty: it was not downloaded or written to its end." : foreign(start);
    if (!kind.empty()) {
        throw Error(ErrorCode::invalid_file, "The file " + in_quotes(file.path(), longest_quote) + " " + kind);
    }
}

}  // namespace totograph::io
