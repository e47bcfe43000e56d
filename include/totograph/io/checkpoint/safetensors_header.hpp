// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian, and so must be the host");

/// One tensor of a safetensors file.
struct TensorInfo {
    std::string name;
    std::string dtype_name;      ///< As the file spells it: "F32", "BF16", "I64"...
    std::optional<DType> dtype;  ///< Empty when this library has no such element type.
    std::vector<Index> shape;    ///< Row-major; empty for a scalar.
    std::size_t begin = 0;       ///< First byte, counted from the start of the file.
    std::size_t end = 0;         ///< One past the last byte.
};

/// The longest header that is read, in bytes; the format's own limit.
inline constexpr std::uint64_t max_safetensors_header = 100'000'000;

/// A shape of any rank as text, like `[3, 4]`, or `[3, 4, ... of 1000 axes]` where a file claims more than a model has.
std::string to_string(std::span<const Index> shape);

namespace detail {

struct SafetensorsType {
    std::string_view name;
    std::uint64_t bits;
    std::optional<DType> dtype;
};

inline constexpr std::array<SafetensorsType, 21> safetensors_types{{
    {"F64", 64, DType::f64}, {"F32", 32, DType::f32}, {"F16", 16, DType::f16}, {"BF16", 16, DType::bf16},
    {"I32", 32, DType::i32}, {"I64", 64, {}},         {"I16", 16, {}},         {"I8", 8, {}},
    {"U64", 64, {}},         {"U32", 32, {}},         {"U16", 16, {}},         {"U8", 8, {}},
    {"BOOL", 8, {}},         {"C64", 64, {}},         {"F8_E4M3", 8, {}},      {"F8_E5M2", 8, {}},
    {"F8_E8M0", 8, {}},      {"F8", 8, {}},           {"F6_E2M3", 6, {}},      {"F6_E3M2", 6, {}},
    {"F4", 4, {}},
}};

/// The product of two sizes; nothing when it does not fit 63 bits.
constexpr std::optional<std::uint64_t> checked_product(std::uint64_t a, std::uint64_t b) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    if (a != 0 && b > most / a) {
        return std::nullopt;
    }
    return a * b;
}

/// Reads and checks the description of one tensor.
class TensorDescription {
public:
    /// @param description  what stands at the tensor's name; must outlive this
    TensorDescription(const JsonValue& description, std::string_view file_name);

    /// The tensor's information, for data of `data_size` bytes that begin at the file's byte `data_begin`.
    TensorInfo read(std::uint64_t data_begin, std::uint64_t data_size);

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(ErrorCode::invalid_file, "The tensor " + in_quotes(info_.name, longest_quote) + " in " +
                                                 in_quotes(file_name_, longest_quote) + " " + what + ".");
    }

    static std::string found(const JsonValue& value) {
        return value.is_array() ? "an array of " + std::to_string(value.items().size())
                                : "the type " + std::string(value.type_name());
    }

    [[nodiscard]] const JsonValue& field(const char* key) const;

    [[nodiscard]] std::uint64_t whole_number(const JsonValue& value, const std::string& what) const;

    void read_dtype();

    /// Reads the extents and returns the number of elements.
    std::uint64_t read_shape();

    void check_size(std::uint64_t elements, std::uint64_t bytes, const std::string& range) const;

    std::string_view file_name_;
    const JsonValue& description_;
    TensorInfo info_;
    std::uint64_t bits_ = 0;
};

void check_safetensors_metadata(const JsonValue& metadata, const std::string& where);

/// Checks that the tensors, sorted by their ranges, fill the bytes [data_begin, file_size) without overlap or hole.
void check_safetensors_cover(const std::vector<TensorInfo>& tensors, std::size_t data_begin, std::size_t file_size,
                             std::string_view file_name);

}  // namespace detail

/// Reads the header of a safetensors file and checks all of it, so that every range in the result lies inside the file,
/// fits its dtype and shape, and overlaps no other.
///
/// @param head       the file's first bytes, up to the end of the header; those after it are not looked at.
/// @param file_name  the name that messages give the file.
/// @param file_size  how many bytes the whole file has. `head` may lack the header where its length says that it does
///                   not fit the file.
/// @return the tensors in the order of their data. Element types that this library does not know are no error: their
///         `dtype` is empty, and their size is checked where the format defines it.
/// @throws Error(invalid_file) that names the file, the tensor and the field.
std::vector<TensorInfo> parse_safetensors_header(std::span<const std::byte> head, std::string_view file_name,
                                                 std::size_t file_size);

/// The same for a file that is in memory as a whole.
inline std::vector<TensorInfo> parse_safetensors_header(std::span<const std::byte> file, std::string_view file_name) {
    return parse_safetensors_header(file, file_name, file.size());
}

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/safetensors_header.hpp>
#endif
