// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/gzip.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "support.hpp"

using namespace totograph::io;
using totograph::ErrorCode;
using totograph::test::check_error;

namespace {

/// What `printf 'a,b\n1,2\n' | gzip -n` writes.
constexpr std::string_view packed(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x02\x00\x7b\x07\x97\x0a\x08\x00\x00\x00",
    28);
constexpr std::size_t enough = 1000;

}  // namespace

TEST_CASE("gzip: known by its first bytes") {
    CHECK(is_gzip(packed));
    CHECK(is_gzip("\x1f\x8b"));
    CHECK(!is_gzip("\x1f"));
    CHECK(!is_gzip("a,b\n"));
}

#ifdef TOTOGRAPH_ZLIB
TEST_CASE("gzip: one file, and several behind each other") {
    CHECK(gunzip(packed, "f.gz", enough) == "a,b\n1,2\n");
    CHECK(gunzip(std::string(packed) + std::string(packed), "f.gz", enough) == "a,b\n1,2\na,b\n1,2\n");
    CHECK(gunzip(packed, "f.gz", 8).size() == 8);
}

TEST_CASE("gzip: what is torn, damaged or too large is refused") {
    for (std::size_t size = 2; size < packed.size(); ++size) {
        CAPTURE(size);
        check_error(ErrorCode::invalid_file, {"'f.gz'", "not whole"},
                    [&] { gunzip(packed.substr(0, size), "f.gz", enough); });
    }
    for (const std::size_t at : {2U, 10U, 12U, 20U, 24U}) {
        CAPTURE(at);
        std::string damaged(packed);
        damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
        CHECK_THROWS_AS(gunzip(damaged, "f.gz", enough), totograph::Error);
    }
    check_error(ErrorCode::invalid_file, {"damaged"}, [] { gunzip(std::string(packed) + "rest", "f.gz", enough); });
    check_error(ErrorCode::invalid_file, {"more than the 7 bytes"}, [] { gunzip(packed, "f.gz", 7); });
}

TEST_CASE("gzip: as it arrives, a byte at a time") {
    const std::string two = std::string(packed) + std::string(packed);
    GunzipStream stream("f.gz");
    std::string text;
    for (const char byte : two) {
        std::string_view bytes(&byte, 1);
        stream.unpack(bytes, text);
        CHECK(bytes.empty());
    }
    CHECK(text == "a,b\n1,2\na,b\n1,2\n");
    CHECK_NOTHROW(stream.finish());
    std::string_view torn = packed.substr(0, 12);
    stream.unpack(torn, text);
    check_error(ErrorCode::invalid_file, {"not whole"}, [&] { stream.finish(); });
    std::string_view damaged = "\x1f\x8brest";
    GunzipStream other("f.gz");
    check_error(ErrorCode::invalid_file, {"damaged"}, [&] { other.unpack(damaged, text); });
}
#else
TEST_CASE("gzip: a program without zlib says so") {
    check_error(ErrorCode::invalid_file, {"without zlib", "gunzip"}, [] { gunzip(packed, "f.gz", enough); });
}
#endif
