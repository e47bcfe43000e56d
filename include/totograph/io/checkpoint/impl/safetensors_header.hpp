// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/checkpoint/safetensors_header.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::string to_string(std::span<const Index> shape) {
    constexpr std::size_t most_axes = 8;
    std::string text = "[";
    for (std::size_t axis = 0; axis < std::min(shape.size(), most_axes); ++axis) {
        text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
    }
    return text + (shape.size() > most_axes ? ", ... of " + std::to_string(shape.size()) + " axes]" : "]");
}

namespace detail {

TOTOGRAPH_INLINE TensorDescription::TensorDescription(const JsonValue& description, std::string_view file_name)
    : file_name_(file_name), description_(description) {
    info_.name = description.name();
    if (!description.is_object()) {
        fail("must be described by an object with 'dtype', 'shape' and 'data_offsets', but its description is " +
             found(description));
    }
    for (const JsonValue& field : description.items()) {
        if (field.name() != "dtype" && field.name() != "shape" && field.name() != "data_offsets") {
            fail("has the unknown field " + in_quotes(field.name()) +
                 "; only 'dtype', 'shape' and 'data_offsets' were expected");
        }
    }
}

TOTOGRAPH_INLINE TensorInfo TensorDescription::read(std::uint64_t data_begin, std::uint64_t data_size) {
    read_dtype();
    const std::uint64_t elements = read_shape();
    const JsonValue& offsets = field("data_offsets");
    if (!offsets.is_array() || offsets.items().size() != 2) {
        fail("has 'data_offsets' of " + found(offsets) + "; an array of two whole numbers was expected");
    }
    const std::uint64_t begin = whole_number(offsets.items()[0], "data offset");
    const std::uint64_t end = whole_number(offsets.items()[1], "data offset");
    const std::string range = "[" + std::to_string(begin) + ", " + std::to_string(end) + "]";
    if (begin > end) {
        fail("has the data offsets " + range + ", whose begin lies behind its end");
    }
    if (end > data_size) {
        fail("has the data offsets " + range + ", but the file holds only " + std::to_string(data_size) +
             " bytes of data; it may be truncated: download or copy it again");
    }
    check_size(elements, end - begin, range);
    info_.begin = static_cast<std::size_t>(data_begin + begin);
    info_.end = static_cast<std::size_t>(data_begin + end);
    return std::move(info_);
}

TOTOGRAPH_INLINE const JsonValue& TensorDescription::field(const char* key) const {
    const JsonValue* const found = description_.find(key);
    if (found == nullptr) {
        fail("has no field '" + std::string(key) + "'");
    }
    return *found;
}

TOTOGRAPH_INLINE std::uint64_t TensorDescription::whole_number(const JsonValue& value, const std::string& what) const {
    // The parser keeps integers that fit no 64 bits as floating point, so those fail here too.
    if (!value.is_integer()) {
        fail("has a " + what + " that is not a whole number of at most 63 bits, but of " + found(value));
    }
    const std::optional<std::uint64_t> number = value.whole();
    if (!number) {
        fail("has the negative " + what + " " + std::to_string(*value.integer()));
    }
    if (*number > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
        fail("has the " + what + " " + std::to_string(*number) + ", which overflows 63 bits");
    }
    return *number;
}

TOTOGRAPH_INLINE void TensorDescription::read_dtype() {
    const JsonValue& dtype = field("dtype");
    if (dtype.string() == nullptr) {
        fail("has a 'dtype' of " + found(dtype) + "; a string such as \"F32\" was expected");
    }
    info_.dtype_name = *dtype.string();
    const auto known = std::find_if(safetensors_types.begin(), safetensors_types.end(),
                                    [&](const SafetensorsType& type) { return type.name == info_.dtype_name; });
    if (known != safetensors_types.end()) {
        bits_ = known->bits;
        info_.dtype = known->dtype;
    }
}

TOTOGRAPH_INLINE std::uint64_t TensorDescription::read_shape() {
    const JsonValue& shape = field("shape");
    if (!shape.is_array()) {
        fail("has a 'shape' of " + found(shape) + "; an array of whole numbers was expected");
    }
    std::uint64_t elements = 1;
    for (const JsonValue& entry : shape.items()) {
        const std::uint64_t extent = whole_number(entry, "extent");
        info_.shape.push_back(static_cast<Index>(extent));
        const auto product = checked_product(elements, extent);
        if (!product) {
            fail("has a shape whose number of elements overflows 63 bits");
        }
        elements = *product;
    }
    return elements;
}

TOTOGRAPH_INLINE void TensorDescription::check_size(std::uint64_t elements, std::uint64_t bytes,
                                                    const std::string& range) const {
    if (bits_ == 0) {
        return;  // An element type that the format did not have when this was written: any size may be right.
    }
    const auto total_bits = checked_product(elements, bits_);
    if (!total_bits) {
        fail("has a shape whose size in bytes overflows");
    }
    if (*total_bits % 8 != 0) {
        fail("has the dtype " + in_quotes(info_.dtype_name) + " and the shape " + to_string(info_.shape) +
             ", which do not fill whole bytes");
    }
    if (*total_bits / 8 != bytes) {
        fail("has the dtype " + in_quotes(info_.dtype_name) + " and the shape " + to_string(info_.shape) +
             ", which need " + std::to_string(*total_bits / 8) + " bytes, but its data offsets " + range + " hold " +
             std::to_string(bytes));
    }
}

TOTOGRAPH_INLINE void check_safetensors_metadata(const JsonValue& metadata, const std::string& where) {
    if (!metadata.is_object()) {
        throw Error(ErrorCode::invalid_file, where + " has a '__metadata__' of type " +
                                                 std::string(metadata.type_name()) +
                                                 "; an object that maps strings to strings was expected.");
    }
    for (const JsonValue& entry : metadata.items()) {
        if (entry.string() == nullptr) {
            throw Error(ErrorCode::invalid_file, where + " has a '__metadata__' whose entry " +
                                                     in_quotes(entry.name()) + " is of type " +
                                                     std::string(entry.type_name()) + "; a string was expected.");
        }
    }
}

TOTOGRAPH_INLINE void check_safetensors_cover(const std::vector<TensorInfo>& tensors, std::size_t data_begin,
                                              std::size_t file_size, std::string_view file_name) {
    std::size_t covered = data_begin;
    const std::string* previous = nullptr;
    const std::string file = in_quotes(file_name, longest_quote);
    for (const TensorInfo& tensor : tensors) {
        if (tensor.begin < covered) {
            throw Error(ErrorCode::invalid_file, "The tensors " + in_quotes(*previous, longest_quote) + " and " +
                                                     in_quotes(tensor.name, longest_quote) + " in " + file +
                                                     " overlap.");
        }
        if (tensor.begin > covered) {
            throw Error(ErrorCode::invalid_file, "The file " + file + " has a hole of " +
                                                     std::to_string(tensor.begin - covered) +
                                                     " bytes that belong to no tensor before the tensor " +
                                                     in_quotes(tensor.name, longest_quote) + ".");
        }
        covered = tensor.end;
        previous = &tensor.name;
    }
    if (covered != file_size) {
        throw Error(ErrorCode::invalid_file, "The file " + file + " ends with " + std::to_string(file_size - covered) +
                                                 " bytes that belong to no tensor: download or copy it again.");
    }
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<TensorInfo> parse_safetensors_header(std::span<const std::byte> head,
                                                                  std::string_view file_name, std::size_t file_size) {
    const std::string name = in_quotes(file_name, longest_quote);
    constexpr std::size_t prefix = sizeof(std::uint64_t);
    if (file_size < prefix) {
        throw Error(ErrorCode::invalid_file, "The file " + name + " holds " + std::to_string(file_size) +
                                                 " bytes, which is too short for a safetensors file; it must begin"
                                                 " with 8 bytes that give the length of its header.");
    }
    std::uint64_t length = 0;
    std::memcpy(&length, head.data(), prefix);
    if (length > max_safetensors_header) {
        throw Error(ErrorCode::invalid_file,
                    "The file " + name + " claims a header of " + std::to_string(length) +
                        " bytes, over the limit of " + std::to_string(max_safetensors_header) +
                        "; it is no safetensors file: name the file of the weights, or download it again.");
    }
    if (length > file_size - prefix) {
        throw Error(ErrorCode::invalid_file, "The file " + name + " claims a header of " + std::to_string(length) +
                                                 " bytes, but only " + std::to_string(file_size - prefix) +
                                                 " follow its length; it may be truncated: download or copy it again.");
    }
    const std::string where = "The header of " + name;
    const std::string_view text(reinterpret_cast<const char*>(head.data()) + prefix, static_cast<std::size_t>(length));
    if (!text.starts_with('{')) {
        throw Error(ErrorCode::invalid_file, where + " is not a JSON object: it must begin with '{'.");
    }
    const JsonValue header = parse_json(text, where, {.detects_utf16 = false});

    const std::size_t data_begin = prefix + static_cast<std::size_t>(length);
    std::vector<TensorInfo> tensors;
    for (const JsonValue& item : header.items()) {
        if (item.name() == "__metadata__") {
            detail::check_safetensors_metadata(item, where);
        } else {
            tensors.push_back(detail::TensorDescription(item, file_name).read(data_begin, file_size - data_begin));
        }
    }
    std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    detail::check_safetensors_cover(tensors, data_begin, file_size, file_name);
    return tensors;
}

}  // namespace totograph::io
