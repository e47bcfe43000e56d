// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::ScratchFolder;

// Written by the Python package safetensors 0.8 through torch: a [1, 3] F32, a [3] F16, a [2] BF16, a scalar F64, a [2]
// I64, a [0, 4] F32 and a [1] BOOL, with metadata.
constexpr std::string_view header_by_python =
    R"({"__metadata__":{"format":"pt"},"e.int":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
    R"("d.wide":{"dtype":"F64","shape":[],"data_offsets":[16,24]},)"
    R"("a":{"dtype":"F32","shape":[1,3],"data_offsets":[24,36]},)"
    R"("f.empty":{"dtype":"F32","shape":[0,4],"data_offsets":[36,36]},)"
    R"("c.brain":{"dtype":"BF16","shape":[2],"data_offsets":[36,40]},)"
    R"("b.half":{"dtype":"F16","shape":[3],"data_offsets":[40,46]},)"
    R"("g.bool":{"dtype":"BOOL","shape":[1],"data_offsets":[46,47]}}    )";
constexpr std::array<unsigned char, 8> length_by_python{0xc8, 0x01, 0, 0, 0, 0, 0, 0};
constexpr std::array<unsigned char, 47> data_by_python{
    0x07, 0, 0,    0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0,    0, 0,    0,    0,    0,    0x04, 0x40, 0,    0,    0xc0, 0x3f, 0,    0,    0,    0xc0,
    0,    0, 0x50, 0x40, 0x80, 0x3f, 0x40, 0xc0, 0x00, 0x38, 0xff, 0x7b, 0x01, 0x80, 0x01};

std::string file_by_python() {
    std::string file(length_by_python.begin(), length_by_python.end());
    file += header_by_python;
    file.append(data_by_python.begin(), data_by_python.end());
    return file;
}

std::vector<float> read(const io::SafetensorsFile& file, std::string_view name, std::size_t count) {
    const io::TensorInfo* const info = file.find(name);
    REQUIRE(info != nullptr);
    std::vector<float> values(count, -7.0F);
    file.copy_to_float(*info, values);
    return values;
}

}  // namespace

TEST_CASE("safetensors: a file written by Python reads back bit for bit") {
    const ScratchFolder folder;
    const io::SafetensorsFile file(folder.file("python.safetensors", file_by_python()));
    CHECK(file.tensors().size() == 7);
    CHECK(read(file, "a", 3) == std::vector<float>{1.5F, -2.0F, 3.25F});
    CHECK(read(file, "b.half", 3) == std::vector<float>{0.5F, 65504.0F, -0x1p-24F});
    CHECK(read(file, "c.brain", 2) == std::vector<float>{1.0F, -3.0F});
    CHECK(read(file, "d.wide", 1) == std::vector<float>{2.5F});
    CHECK(read(file, "f.empty", 0).empty());
    REQUIRE(file.find("e.int") != nullptr);
    CHECK(file.find("e.int")->dtype_name == "I64");
    std::array<std::int64_t, 2> integers{};
    file.read_bytes(*file.find("e.int"), 0, std::as_writable_bytes(std::span(integers)));
    CHECK(integers == std::array<std::int64_t, 2>{7, -1});
    CHECK(file.find("nothing") == nullptr);
    CHECK(file.find("") == nullptr);
    CHECK(file.path() == folder.path() / "python.safetensors");
}

TEST_CASE("safetensors: special values of each element type convert as IEEE says") {
    const ScratchFolder folder;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::array<std::uint16_t, 6> halves{0x7c00, 0xfc00, 0x7e00, 0x0000, 0x8000, 0x0400};
    const std::array<double, 4> doubles{1e300, -1e300, 0.1, 1e-60};
    const std::array<io::TensorToWrite, 2> tensors{
        io::TensorToWrite{"half", DType::f16, {6}, {}, std::as_bytes(std::span(halves))},
        io::TensorToWrite{"double", DType::f64, {4}, {}, std::as_bytes(std::span(doubles))}};
    io::write_safetensors(folder.path() / "w", tensors);
    const io::SafetensorsFile file(folder.path() / "w");
    const auto half = read(file, "half", 6);
    CHECK(half[0] == infinity);
    CHECK(half[1] == -infinity);
    CHECK(std::isnan(half[2]));
    CHECK_FALSE(std::signbit(half[3]));
    CHECK(half[4] == 0.0F);
    CHECK(std::signbit(half[4]));
    CHECK(half[5] == 0x1p-14F);
    CHECK(read(file, "double", 4) == std::vector<float>{infinity, -infinity, 0.1F, 0.0F});
}

TEST_CASE("safetensors: data at odd offsets is read correctly") {
    const ScratchFolder folder;
    // One byte ahead moves every other tensor off its alignment.
    const std::string header =
        R"({"pad":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"f":{"dtype":"F32","shape":[2],"data_offsets":[1,9]},)"
        R"("d":{"dtype":"F64","shape":[1],"data_offsets":[9,17]},"h":{"dtype":"F16","shape":[1],"data_offsets":[17,19]},)"
        R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[19,21]}})";
    std::string content(8, '\0');
    content[0] = static_cast<char>(header.size() & 0xffU);
    content[1] = static_cast<char>(header.size() >> 8U);
    content += header;
    content +=
        std::string_view("\x01\x00\x00\xc0\x3f\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x04\x40\x00\x38\x80\x3f", 21);
    const io::SafetensorsFile file(folder.file("odd", content));
    CHECK(read(file, "f", 2) == std::vector<float>{1.5F, -2.0F});
    CHECK(read(file, "d", 1) == std::vector<float>{2.5F});
    CHECK(read(file, "h", 1) == std::vector<float>{0.5F});
    CHECK(read(file, "b", 1) == std::vector<float>{1.0F});
}

TEST_CASE("safetensors: files that cannot be mapped are refused by name and reason") {
    const ScratchFolder folder;
    check_error(ErrorCode::file_not_found, {"absent.safetensors", "No such file or directory"},
                [&] { io::SafetensorsFile file(folder.path() / "absent.safetensors"); });
    check_error(ErrorCode::file_not_found, {folder.path().string(), "is a directory"},
                [&] { io::SafetensorsFile file(folder.path()); });
    check_error(ErrorCode::file_not_found, {"Not a directory"},
                [&] { io::SafetensorsFile file(folder.file("plain", "x") / "below"); });
    check_error(ErrorCode::invalid_file, {"nothing.safetensors", "is empty"},
                [&] { io::SafetensorsFile file(folder.file("nothing.safetensors", "")); });
    check_error(ErrorCode::invalid_file, {"text.safetensors", "too short"},
                [&] { io::SafetensorsFile file(folder.file("text.safetensors", "hello")); });
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    check_error(ErrorCode::file_not_found, {"not a regular file"}, [&] { io::SafetensorsFile file(pipe); });
}

TEST_CASE("safetensors: a truncated file is refused at every length") {
    const ScratchFolder folder;
    const std::string whole = file_by_python();
    for (std::size_t length = 1; length < whole.size(); ++length) {
        CAPTURE(length);
        const auto path = folder.file("cut", std::string_view(whole).substr(0, length));
        check_error(ErrorCode::invalid_file, {"cut"}, [&] { io::SafetensorsFile file(path); });
    }
}

TEST_CASE("safetensors: a wrong element count or dtype is a mismatch that names both") {
    const ScratchFolder folder;
    const io::SafetensorsFile file(folder.file("python.safetensors", file_by_python()));
    std::vector<float> values(4);
    check_error(ErrorCode::tensor_mismatch, {"'a'", "python.safetensors", "[1, 3] of 3 elements", "4 elements"},
                [&] { file.copy_to_float(*file.find("a"), values); });
    check_error(ErrorCode::tensor_mismatch, {"'f.empty'", "[0, 4] of 0 elements", "4 elements"},
                [&] { file.copy_to_float(*file.find("f.empty"), values); });
    check_error(ErrorCode::tensor_mismatch, {"'e.int'", "'I64'", "F32, F64, BF16 or F16"},
                [&] { file.copy_to_float(*file.find("e.int"), std::span(values).first(2)); });
    const std::array<std::int32_t, 1> number{5};
    const io::TensorToWrite integer{"integer", DType::i32, {1}, {}, std::as_bytes(std::span(number))};
    io::write_safetensors(folder.path() / "integer", std::span(&integer, 1));
    const io::SafetensorsFile integers(folder.path() / "integer");
    check_error(ErrorCode::tensor_mismatch, {"'I32'"},
                [&] { integers.copy_to_float(integers.tensors()[0], std::span(values).first(1)); });
}

TEST_CASE("safetensors: information from another file cannot reach outside of this one") {
    const ScratchFolder folder;
    const io::SafetensorsFile file(folder.file("python.safetensors", file_by_python()));
    io::TensorInfo foreign = *file.find("a");
    std::array<std::byte, 12> bytes{};
    const auto refuse = [&](std::size_t first, std::size_t count) {
        check_error(ErrorCode::invalid_argument, {"'a'", "does not lie inside"},
                    [&] { file.read_bytes(foreign, first, std::span(bytes).first(count)); });
    };
    refuse(1, 12);
    refuse(12, 1);
    refuse(std::numeric_limits<std::size_t>::max(), 12);
    file.read_bytes(foreign, 12, {});
    foreign.end += 1000;
    refuse(0, 1);
    foreign.begin = foreign.end + 1;
    refuse(0, 1);
    foreign.begin = std::numeric_limits<std::size_t>::max();
    foreign.end = std::numeric_limits<std::size_t>::max();
    refuse(0, 1);
    // A count of bytes that is no multiple of the element's size has no number of elements.
    foreign = *file.find("a");
    foreign.end -= 1;
    std::vector<float> values(2);
    check_error(ErrorCode::tensor_mismatch, {"'a'"}, [&] { file.copy_to_float(foreign, values); });
}

TEST_CASE("safetensors: the file can be moved and not copied") {
    static_assert(!std::is_copy_constructible_v<io::SafetensorsFile>);
    static_assert(!std::is_copy_assignable_v<io::SafetensorsFile>);
    static_assert(std::is_nothrow_move_assignable_v<io::RandomAccessFile>);
    const ScratchFolder folder;
    io::SafetensorsFile first(folder.file("python.safetensors", file_by_python()));
    const io::TensorInfo* const info = first.find("a");
    io::SafetensorsFile second(std::move(first));
    CHECK(second.find("a") == info);  // Pointers into the tensors stay valid.
    const float one = 1.0F;
    const io::TensorToWrite other{"other", DType::f32, {}, std::span(&one, 1)};
    io::write_safetensors(folder.path() / "other", std::span(&other, 1));
    io::SafetensorsFile third(folder.path() / "other");
    third = std::move(second);
    CHECK(read(third, "a", 3) == std::vector<float>{1.5F, -2.0F, 3.25F});
    CHECK(third.path().ends_with("/python.safetensors"));
}

TEST_CASE("safetensors: parts of a tensor are those of the whole, in every type") {
    const ScratchFolder folder;
    constexpr std::size_t count = 20'000;  // several times what is converted at once
    std::vector<float> values(count);
    for (std::size_t index = 0; index < count; ++index) {
        values[index] = static_cast<float>(index % 251) - 100;  // which bf16 has as well
    }
    std::vector<double> doubles(values.begin(), values.end());
    const auto extent = static_cast<Index>(count);
    const std::array<io::TensorToWrite, 3> tensors{
        io::TensorToWrite{"float", DType::f32, {extent}, values},
        io::TensorToWrite{"brain", DType::bf16, {extent}, values},
        io::TensorToWrite{"double", DType::f64, {extent}, {}, std::as_bytes(std::span(doubles))}};
    io::write_safetensors(folder.path() / "large", tensors);
    const io::SafetensorsFile file(folder.path() / "large");
    for (const char* name : {"float", "brain", "double"}) {
        CAPTURE(name);
        CHECK(read(file, name, count) == values);
        for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{7001}, count - 3}) {
            std::vector<float> part(count - first - 2);
            file.read_floats(*file.find(name), first, part);
            CHECK(std::equal(part.begin(), part.end(), values.begin() + static_cast<std::ptrdiff_t>(first)));
        }
        std::vector<float> beyond(2);
        check_error(ErrorCode::invalid_argument, {"does not lie inside"},
                    [&] { file.read_floats(*file.find(name), count - 1, beyond); });
    }
}

TEST_CASE("safetensors: a file that is cut or written to while it is open is an error at the next read") {
    const ScratchFolder folder;
    const auto path = folder.file("python.safetensors", file_by_python());
    const io::SafetensorsFile file(path);
    CHECK(read(file, "a", 3).size() == 3);
    std::filesystem::resize_file(path, 40);
    check_error(ErrorCode::io_failure, {"python.safetensors", "was written to", "has 40 now"},
                [&] { (void)read(file, "a", 3); });
    // The name leads to another file now; the one that is open is what it was.
    const io::SafetensorsFile replaced(folder.file("whole.safetensors", file_by_python()));
    std::filesystem::rename(path, folder.path() / "whole.safetensors");
    CHECK(read(replaced, "a", 3) == std::vector<float>{1.5F, -2.0F, 3.25F});
}

TEST_CASE("safetensors: what is no such file is told by what it is") {
    const ScratchFolder folder;
    const auto refuse = [&](std::string_view content, std::string_view what) {
        const auto path = folder.file("model.safetensors", content);
        check_error(ErrorCode::invalid_file, {"model.safetensors", what}, [&] { io::SafetensorsFile file(path); });
    };
    refuse("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 605239096\n", "run 'git lfs pull'");
    refuse("{\"error\": \"not found\"}", "is text that begins with '{\"error\": \"not found\"}'");
    refuse("Access to this model is restricted.", "is text");
    refuse(std::string("PK\x03\x04\0\0\x08\x08", 8), "tools/convert_checkpoint.py");
    // Whose header's length begins as a pickle does, or a zip archive.
    for (const std::string_view start : {"\x80\x02", "PK\x03\x04"}) {
        std::string file(start);
        file.resize(8);
        check_error(ErrorCode::invalid_file, {"may be truncated"},
                    [&] { io::SafetensorsFile opened(folder.file("cut", file + "{}")); });
    }
}
