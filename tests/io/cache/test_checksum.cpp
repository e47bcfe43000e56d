// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <totograph/io/cache/checksum.hpp>

namespace io = totograph::io;

TEST_CASE("checksums are FNV-1a, as its authors' test vectors have it") {
    static_assert(io::checksum_of("") == 0xcbf29ce484222325U);
    CHECK(io::checksum_text("") == "cbf29ce484222325");
    CHECK(io::checksum_text("a") == "af63dc4c8601ec8c");
    CHECK(io::checksum_text("foobar") == "85944171f73967e8");
}

TEST_CASE("a checksum of parts is that of the whole, and has all of its digits") {
    CHECK(io::Checksum().add("foo").add("").add("bar").text() == "85944171f73967e8");
    CHECK(io::Checksum().add("foo").add("bar").value() == io::checksum_of("foobar"));
    // The shortest text whose checksum is 0, of the same list.
    CHECK(io::checksum_text("\xd5\x6b\xb9\x53\x42\x87\x08\x36") == "0000000000000000");
}
