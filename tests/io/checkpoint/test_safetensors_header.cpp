// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/io/checkpoint/safetensors_header.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;

/// A file with this header text and so many zero bytes of data.
std::string file_of(std::string_view header, std::size_t data_size) {
    const std::uint64_t length = header.size();
    std::string file(sizeof(length), '\0');
    std::memcpy(file.data(), &length, sizeof(length));
    file += header;
    file.append(data_size, '\0');
    return file;
}

std::vector<io::TensorInfo> parse_bytes(std::string_view file) {
    return io::parse_safetensors_header(std::as_bytes(std::span(file.data(), file.size())), "weights.safetensors");
}

std::vector<io::TensorInfo> parse(std::string_view header, std::size_t data_size) {
    return parse_bytes(file_of(header, data_size));
}

void refuses(std::string_view header, std::size_t data_size, std::string_view part) {
    CAPTURE(std::string(header));
    check_error(ErrorCode::invalid_file, {"weights.safetensors", part}, [&] { parse(header, data_size); });
}

/// A header of one tensor 't' with this dtype, shape and offsets.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"t":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

}  // namespace

TEST_CASE("safetensors header: tensors come in the order of their data with ranges in the file") {
    const std::string header =
        R"({"b":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},"__metadata__":{"format":"pt"},)"
        R"("a":{"shape":[2],"data_offsets":[0,4],"dtype":"BF16"}}   )";
    const auto tensors = parse(header, 28);
    REQUIRE(tensors.size() == 2);
    CHECK(tensors[0].name == "a");
    CHECK(tensors[0].dtype_name == "BF16");
    CHECK(tensors[0].dtype == DType::bf16);
    CHECK(tensors[0].shape == std::vector<Index>{2});
    CHECK(tensors[0].begin == 8 + header.size());
    CHECK(tensors[0].end == 12 + header.size());
    CHECK(tensors[1].name == "b");
    CHECK(tensors[1].dtype == DType::f32);
    CHECK(tensors[1].shape == std::vector<Index>{2, 3});
    CHECK(tensors[1].end == 36 + header.size());
}

TEST_CASE("safetensors header: scalars and empty tensors and files without tensors are fine") {
    CHECK(parse("{}", 0).empty());
    CHECK(parse(R"({"__metadata__":{}})", 0).empty());
    CHECK(parse(one(R"("F64")", "[]", "[0,8]"), 8).at(0).shape.empty());
    CHECK(parse(one(R"("F32")", "[0,4]", "[0,0]"), 0).at(0).begin ==
          parse(one(R"("F32")", "[0,4]", "[0,0]"), 0)[0].end);
    const auto between = parse(
        R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"e":{"dtype":"U8","shape":[0],"data_offsets":[4,4]},)"
        R"("y":{"dtype":"U8","shape":[4],"data_offsets":[4,8]},"f":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
        8);
    CHECK(between.size() == 4);
}

TEST_CASE("safetensors header: element types that the library lacks are kept by name with their size checked") {
    const auto i64 = parse(one(R"("I64")", "[2]", "[0,16]"), 16);
    CHECK_FALSE(i64.at(0).dtype.has_value());
    CHECK(i64.at(0).dtype_name == "I64");
    CHECK(parse(one(R"("U8")", "[3]", "[0,3]"), 3).at(0).dtype_name == "U8");
    CHECK(parse(one(R"("F8_E4M3")", "[3]", "[0,3]"), 3).size() == 1);
    CHECK(parse(one(R"("F4")", "[6]", "[0,3]"), 3).size() == 1);
    CHECK(parse(one(R"("I32")", "[1]", "[0,4]"), 4).at(0).dtype == DType::i32);
    CHECK(parse(one(R"("Q3_NEW")", "[100]", "[0,7]"), 7).at(0).dtype_name == "Q3_NEW");
    refuses(one(R"("I64")", "[2]", "[0,8]"), 8, "need 16 bytes");
    refuses(one(R"("F4")", "[3]", "[0,2]"), 2, "whole bytes");
}

TEST_CASE("safetensors header: every dtype this library reads has its own size") {
    CHECK(parse(one(R"("F16")", "[3]", "[0,6]"), 6).at(0).dtype == DType::f16);
    CHECK(parse(one(R"("F64")", "[3]", "[0,24]"), 24).at(0).dtype == DType::f64);
    CHECK(parse(one(R"("F32")", "[3]", "[0,12]"), 12).at(0).dtype == DType::f32);
    CHECK(parse(one(R"("BF16")", "[3]", "[0,6]"), 6).at(0).dtype == DType::bf16);
}

TEST_CASE("safetensors header: a file that is too short or claims too long a header is refused") {
    check_error(ErrorCode::invalid_file, {"weights.safetensors", "holds 0 bytes", "too short"},
                [] { parse_bytes(""); });
    check_error(ErrorCode::invalid_file, {"holds 7 bytes"}, [] { parse_bytes("1234567"); });
    std::string longer = file_of("{}", 0);
    longer[0] = 3;
    check_error(ErrorCode::invalid_file, {"header of 3 bytes", "only 2 follow", "download or copy it again"},
                [&] { parse_bytes(longer); });
    for (const std::uint64_t length : {std::uint64_t{100'000'001}, std::numeric_limits<std::uint64_t>::max()}) {
        std::memcpy(longer.data(), &length, sizeof(length));
        check_error(ErrorCode::invalid_file,
                    {std::to_string(length), "limit of 100000000", "it is no safetensors file: name"},
                    [&] { parse_bytes(longer); });
    }
    constexpr std::uint64_t longest = 100'000'000;
    std::memcpy(longer.data(), &longest, sizeof(longest));
    check_error(ErrorCode::invalid_file, {"header of 100000000 bytes", "only 2 follow"}, [&] { parse_bytes(longer); });
}

TEST_CASE("safetensors header: text that is not one JSON object is refused") {
    refuses("", 0, "must begin with '{'");
    refuses(" {}", 0, "must begin with '{'");
    refuses("[]", 0, "must begin with '{'");
    refuses("null", 0, "must begin with '{'");
    refuses("{", 0, "not JSON");
    refuses("{}{}", 0, "not JSON");
    refuses("{\"a\"", 0, "not JSON");
    refuses("{\"a\":{\"dtype\":\"F32\xff\"}}", 0, "not JSON");
    refuses(std::string_view("{}\0\0", 4), 0, "NUL byte at offset 2");
    refuses(std::string_view("{\0}\0", 4), 0, "NUL byte at offset 1");
}

TEST_CASE("safetensors header: keys that stand twice are refused at each level") {
    const std::string tensor = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
    refuses(R"({"same":)" + tensor + R"(,"same":)" + tensor + "}", 4, "the key 'same' twice");
    refuses(R"({"s\u0061me":)" + tensor + R"(,"same":)" + tensor + "}", 4, "the key 'same' twice");
    refuses(R"({"t":{"dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,4]}})", 4, "the key 'dtype' twice");
    refuses(R"({"__metadata__":{},"__metadata__":{}})", 0, "'__metadata__' twice");
    refuses(R"({"__metadata__":{"k":"1","k":"2"}})", 0, "'k' twice");
}

TEST_CASE("safetensors header: missing and wrongly typed fields name the tensor and the field") {
    refuses(R"({"t":{"shape":[1],"data_offsets":[0,4]}})", 4, "'t' in 'weights.safetensors' has no field 'dtype'");
    refuses(R"({"t":{"dtype":"F32","data_offsets":[0,4]}})", 4, "no field 'shape'");
    refuses(R"({"t":{"dtype":"F32","shape":[1]}})", 4, "no field 'data_offsets'");
    refuses(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"extra":1}})", 4, "unknown field 'extra'");
    refuses(R"({"t":[]})", 0, "an array of 0");
    refuses(R"({"t":null})", 0, "the type null");
    refuses(one("4", "[1]", "[0,4]"), 4, "'dtype' of the type number");
    refuses(one("null", "[1]", "[0,4]"), 4, "'dtype' of the type null");
    refuses(one(R"("F32")", "1", "[0,4]"), 4, "'shape' of the type number");
    refuses(one(R"("F32")", R"(["1"])", "[0,4]"), 4, "extent that is not a whole number");
    refuses(one(R"("F32")", "[1.0]", "[0,4]"), 4, "extent that is not a whole number");
    refuses(one(R"("F32")", "[true]", "[0,4]"), 4, "extent that is not a whole number");
    refuses(one(R"("F32")", "[[1]]", "[0,4]"), 4, "extent that is not a whole number");
    refuses(one(R"("F32")", "[1]", "4"), 4, "'data_offsets' of the type number");
    refuses(one(R"("F32")", "[1]", "[0]"), 4, "'data_offsets' of an array of 1");
    refuses(one(R"("F32")", "[1]", "[0,4,8]"), 4, "'data_offsets' of an array of 3");
    refuses(one(R"("F32")", "[1]", R"([0,"4"])"), 4, "data offset that is not a whole number");
}

TEST_CASE("safetensors header: negative and overflowing numbers are refused") {
    refuses(one(R"("F32")", "[-1]", "[0,4]"), 4, "negative extent -1");
    refuses(one(R"("F32")", "[1]", "[-4,0]"), 4, "negative data offset -4");
    refuses(one(R"("F32")", "[9223372036854775808]", "[0,4]"), 4, "overflows 63 bits");
    refuses(one(R"("F32")", "[99999999999999999999]", "[0,4]"), 4, "not a whole number of at most 63 bits");
    refuses(one(R"("F32")", "[4294967296,4294967296]", "[0,4]"), 4, "overflows");
    refuses(one(R"("F32")", "[4611686018427387904]", "[0,4]"), 4, "size in bytes overflows");
    refuses(one(R"("F32")", "[4611686018427387904,2,0]", "[0,0]"), 0, "overflows");
    CHECK(parse(one(R"("F32")", "[0,9223372036854775807]", "[0,0]"), 0).size() == 1);
}

TEST_CASE("safetensors header: offsets outside of the data or in the wrong order are refused") {
    refuses(one(R"("F32")", "[1]", "[0,5]"), 4, "only 4 bytes of data; it may be truncated: download or copy it");
    refuses(one(R"("F32")", "[1]", "[4,0]"), 4, "begin lies behind its end");
    refuses(one(R"("F32")", "[1]", "[9223372036854775803,9223372036854775807]"), 4, "only 4 bytes of data");
    refuses(one(R"("F32")", "[1]", "[0,18446744073709551615]"), 4, "overflows 63 bits");
}

TEST_CASE("safetensors header: a size that fits not dtype and shape is refused") {
    refuses(one(R"("F32")", "[2]", "[0,4]"), 4, "need 8 bytes");
    refuses(one(R"("BF16")", "[3]", "[0,4]"), 4, "dtype 'BF16' and the shape [3], which need 6 bytes");
    refuses(one(R"("F32")", "[]", "[0,0]"), 0, "need 4 bytes");
    refuses(one(R"("F32")", "[0]", "[0,4]"), 4, "need 0 bytes");
}

TEST_CASE("safetensors header: overlaps and holes are refused") {
    const auto two = [](const std::string& first, const std::string& second) {
        return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
               R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
    };
    CHECK(parse(two("[4,8]", "[0,4]"), 8).at(0).name == "b");
    refuses(two("[0,4]", "[0,4]"), 4, "'a' and 'b' in 'weights.safetensors' overlap");
    refuses(two("[0,4]", "[3,7]"), 7, "overlap");
    refuses(two("[0,4]", "[5,9]"), 9, "hole of 1 bytes");
    refuses(two("[1,5]", "[5,9]"), 9, "hole of 1 bytes that belong to no tensor before the tensor 'a'");
    refuses(two("[0,4]", "[4,8]"), 10, "ends with 2 bytes that belong to no tensor: download or copy it again");
    refuses("{}", 1, "ends with 1 bytes");
    refuses(
        R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"e":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})",
        4, "overlap");
}

TEST_CASE("safetensors header: metadata must map strings to strings") {
    CHECK(parse(R"({"__metadata__":{"a":"b"}})", 0).empty());
    refuses(R"({"__metadata__":"pt"})", 0, "'__metadata__' of type string");
    refuses(R"({"__metadata__":null})", 0, "'__metadata__' of type null");
    refuses(R"({"__metadata__":{"a":1}})", 0, "entry 'a' is of type number");
    refuses(R"({"__metadata__":{"a":{}}})", 0, "entry 'a' is of type object");
}

TEST_CASE("safetensors header: deep nesting is refused without deep recursion") {
    const std::string deep_arrays(1'000'000, '[');
    refuses("{\"a\":" + deep_arrays, 0, "nests deeper");
    std::string deep_objects;
    for (int level = 0; level < 100'000; ++level) {
        deep_objects += "{\"a\":";
    }
    refuses(deep_objects, 0, "nests deeper");
}

TEST_CASE("safetensors header: hostile names cannot steer a terminal or flood a message") {
    try {
        parse(R"({"\u001b[2J)" + std::string(10'000, 'x') + R"(":1})", 0);
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        const std::string message = error.what();
        CHECK(message.find('\x1b') == std::string::npos);
        CHECK(message.find("\\x1b[2J") != std::string::npos);
        CHECK(message.size() < 1000);
    }
}
