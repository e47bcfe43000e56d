// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/gzip.hpp>

#include "require.hpp"

namespace {

/// What comes of the bytes: the text, or nothing where they are refused.
std::string unpacked(std::string_view bytes, std::size_t most, bool& is_refused) {
    is_refused = false;
    try {
        return totograph::io::gunzip(bytes, "fuzz.gz", most);
    } catch (const totograph::Error& error) {
        fuzz::require(error.code() == totograph::ErrorCode::invalid_file);
        is_refused = true;
        return "";
    }
}

}  // namespace

/// Unpacks the bytes. Never more comes of them than is allowed, and with less room the same or nothing.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using fuzz::require;
    constexpr std::size_t most = std::size_t{1} << 20U;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    bool is_refused = false;
    const std::string text = unpacked(bytes, most, is_refused);
    require(text.size() <= most);
    if (is_refused) {
        return 0;
    }
    require(totograph::io::is_gzip(bytes) || bytes.empty());
    require(unpacked(bytes, text.size(), is_refused) == text && !is_refused);
    require(text.empty() || (unpacked(bytes, text.size() - 1, is_refused).empty() && is_refused));
    return 0;
}
