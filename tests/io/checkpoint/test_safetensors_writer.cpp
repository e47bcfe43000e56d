// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::content_of;
using totograph::test::ScratchFolder;

constexpr std::array<float, 6> six{1.0F, -2.5F, 0.1F, 3e38F, -0.0F, 65536.0F};

std::vector<float> read(const io::SafetensorsFile& file, const std::string& name) {
    const io::TensorInfo* const info = file.find(name);
    REQUIRE(info != nullptr);
    std::vector<float> values((info->end - info->begin) / size_in_bytes(*info->dtype));
    file.copy_to_float(*info, values);
    return values;
}

}  // namespace

TEST_CASE("safetensors writer: what is written reads back with names, dtypes, shapes and values") {
    const ScratchFolder folder;
    const auto path = folder.path() / "model.safetensors";
    const std::array<io::TensorToWrite, 5> tensors{
        io::TensorToWrite{"brain", DType::bf16, {1, 3}, std::span(six).first(3)},
        io::TensorToWrite{"model.layers.0.weight", DType::f32, {2, 3}, six},
        io::TensorToWrite{"double", DType::f64, {6}, six},
        io::TensorToWrite{"scalar", DType::f32, {}, std::span(six).first(1)},
        io::TensorToWrite{"quo\"te \xc3\xa4", DType::f32, {0, 7}}};
    io::write_safetensors(path, tensors, {{"format", "pt"}});
    CHECK(folder.file_count() == 1);

    const io::SafetensorsFile file(path);
    CHECK(file.tensors().size() == 5);
    CHECK(file.find("model.layers.0.weight")->shape == std::vector<Index>{2, 3});
    CHECK(file.find("quo\"te \xc3\xa4")->shape == std::vector<Index>{0, 7});
    CHECK(file.find("scalar")->shape.empty());
    CHECK(read(file, "model.layers.0.weight") == std::vector<float>(six.begin(), six.end()));
    CHECK(read(file, "double") == std::vector<float>(six.begin(), six.end()));
    CHECK(file.find("brain")->dtype == DType::bf16);
    CHECK(read(file, "brain") == std::vector<float>{1.0F, -2.5F, static_cast<float>(BFloat16(0.1F))});
    for (const io::TensorInfo& info : file.tensors()) {
        CHECK(info.begin % size_in_bytes(*info.dtype) == 0);
    }
    CHECK(content_of(path).find(R"("__metadata__":{"format":"pt"})") != std::string::npos);
}

TEST_CASE("safetensors writer: bytes of any dtype are written as they are") {
    const ScratchFolder folder;
    const std::array<std::uint16_t, 2> halves{0x3800, 0xc000};
    const std::array<std::int32_t, 2> integers{-1, 7};
    const std::array<BFloat16, 2> brains{BFloat16(1.0F), BFloat16(-3.0F)};
    const std::array<io::TensorToWrite, 3> tensors{
        io::TensorToWrite{"half", DType::f16, {2}, {}, std::as_bytes(std::span(halves))},
        io::TensorToWrite{"integer", DType::i32, {2}, {}, std::as_bytes(std::span(integers))},
        io::TensorToWrite{"brain", DType::bf16, {2}, {}, std::as_bytes(std::span(brains))}};
    io::write_safetensors(folder.path() / "w", tensors);
    const io::SafetensorsFile file(folder.path() / "w");
    CHECK(read(file, "half") == std::vector<float>{0.5F, -2.0F});
    CHECK(read(file, "brain") == std::vector<float>{1.0F, -3.0F});
    std::array<std::int32_t, 2> back{};
    const io::TensorInfo& stored = *file.find("integer");
    REQUIRE(stored.end - stored.begin == sizeof(back));
    file.read_bytes(stored, 0, std::as_writable_bytes(std::span(back)));
    CHECK(back == integers);
}

TEST_CASE("safetensors writer: long tensors are converted block by block without loss") {
    const ScratchFolder folder;
    std::vector<float> values(200'001);
    for (std::size_t index = 0; index < values.size(); ++index) {
        values[index] = static_cast<float>(index % 251);  // Exact in bf16.
    }
    const std::array<io::TensorToWrite, 2> tensors{io::TensorToWrite{"brain", DType::bf16, {200'001}, values},
                                                   io::TensorToWrite{"double", DType::f64, {200'001}, values}};
    io::write_safetensors(folder.path() / "w", tensors);
    const io::SafetensorsFile file(folder.path() / "w");
    CHECK(read(file, "brain") == values);
    CHECK(read(file, "double") == values);
}

TEST_CASE("safetensors writer: no tensors make a valid file") {
    const ScratchFolder folder;
    io::write_safetensors(folder.path() / "none", {});
    CHECK(io::SafetensorsFile(folder.path() / "none").tensors().empty());
}

TEST_CASE("safetensors writer: tensors that contradict themselves are refused and nothing is written") {
    const ScratchFolder folder;
    const auto refuses = [&](const io::TensorToWrite& tensor, std::string_view part) {
        const std::array<io::TensorToWrite, 2> tensors{io::TensorToWrite{"good", DType::f32, {6}, six}, tensor};
        check_error(ErrorCode::invalid_argument, {part}, [&] { io::write_safetensors(folder.path() / "w", tensors); });
        CHECK(folder.file_count() == 0);
    };
    const auto bytes = std::as_bytes(std::span(six));
    refuses({"good", DType::f32, {6}, six}, "'good' to write has a name that is taken twice");
    refuses({"__metadata__", DType::f32, {6}, six}, "reserved");
    refuses({"t", DType::f32, {5}, six}, "[5] of 5 elements, but 6 values");
    refuses({"t", DType::f32, {6}}, "0 values were given");
    refuses({"t", DType::f32, {-6}, six}, "negative extent");
    refuses({"t", DType::f32, {-1}, six}, "negative extent");
    refuses({"t", DType::f32, {std::numeric_limits<Index>::max(), 2}, six}, "overflows");
    refuses({"t", DType::f32, {6}, six, bytes}, "both values and bytes");
    refuses({"t", DType::f16, {6}, six}, "dtype f16");
    refuses({"t", DType::i32, {6}, six}, "dtype i32");
    refuses({"t", DType::f64, {6}, {}, bytes}, "needs 48 bytes");
    refuses({"\xff", DType::f32, {6}, six}, "not valid UTF-8");
}

TEST_CASE("safetensors writer: a missing directory is named with the system's reason") {
    const ScratchFolder folder;
    const io::TensorToWrite tensor{"t", DType::f32, {6}, six};
    check_error(ErrorCode::file_not_found, {"missing/w", "No such file or directory"},
                [&] { io::write_safetensors(folder.path() / "missing" / "w", std::span(&tensor, 1)); });
    check_error(ErrorCode::invalid_argument, {folder.path().string(), "not a regular file"},
                [&] { io::write_safetensors(folder.path(), std::span(&tensor, 1)); });
}
