// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/checkpoint/safetensors_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/atomic_file.hpp>
#include <totograph/io/checkpoint/safetensors_header.hpp>
#include <totograph/io/json_text.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE std::uint64_t checked_size(const TensorToWrite& tensor) {
    std::uint64_t size = size_in_bytes(tensor.dtype);
    for (const Index extent : tensor.shape) {
        if (extent < 0) {
            refuse_tensor(tensor, "has a negative extent in its shape " + to_string(tensor.shape));
        }
        const auto product = checked_product(size, static_cast<std::uint64_t>(extent));
        if (!product) {
            refuse_tensor(tensor, "has the shape " + to_string(tensor.shape) + ", whose size overflows");
        }
        size = *product;
    }
    const std::uint64_t elements = size / size_in_bytes(tensor.dtype);
    if (!tensor.values.empty() && !tensor.bytes.empty()) {
        refuse_tensor(tensor, "has both values and bytes; give one of them");
    }
    if (!tensor.values.empty() && (tensor.dtype == DType::f16 || tensor.dtype == DType::i32)) {
        refuse_tensor(tensor, "has float values for the dtype " + std::string(name(tensor.dtype)) +
                                  ", but they are converted to f32, f64 and bf16 only; give bytes instead");
    }
    if (tensor.bytes.empty() && tensor.values.size() != elements) {
        refuse_tensor(tensor, "has the shape " + to_string(tensor.shape) + " of " + std::to_string(elements) +
                                  " elements, but " + std::to_string(tensor.values.size()) + " values were given");
    }
    if (!tensor.bytes.empty() && tensor.bytes.size() != size) {
        refuse_tensor(tensor, "needs " + std::to_string(size) + " bytes for its shape " + to_string(tensor.shape) +
                                  " of " + std::string(name(tensor.dtype)) + ", but " +
                                  std::to_string(tensor.bytes.size()) + " bytes were given");
    }
    return size;
}

TOTOGRAPH_INLINE JsonValue header_entry(const TensorToWrite& tensor, std::uint64_t begin, std::uint64_t end) {
    std::vector<JsonValue> shape;
    for (const Index extent : tensor.shape) {
        shape.emplace_back(extent);
    }
    std::vector<JsonValue> offsets{JsonValue(begin), JsonValue(end)};
    std::vector<JsonValue> fields{JsonValue(std::string(safetensors_name(tensor.dtype))).named("dtype"),
                                  JsonValue::array(std::move(shape)).named("shape"),
                                  JsonValue::array(std::move(offsets)).named("data_offsets")};
    return JsonValue::object(std::move(fields)).named(tensor.name);
}

}  // namespace detail

TOTOGRAPH_INLINE void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                                        const std::map<std::string, std::string>& metadata) {
    std::vector<const TensorToWrite*> order;
    for (const TensorToWrite& tensor : tensors) {
        order.push_back(&tensor);
    }
    std::stable_sort(order.begin(), order.end(), [](const TensorToWrite* a, const TensorToWrite* b) {
        return size_in_bytes(a->dtype) > size_in_bytes(b->dtype);
    });

    std::vector<JsonValue> header;
    if (!metadata.empty()) {
        std::vector<JsonValue> strings;
        strings.reserve(metadata.size());
        for (const auto& [key, value] : metadata) {
            strings.push_back(JsonValue(value).named(key));
        }
        header.push_back(JsonValue::object(std::move(strings)).named("__metadata__"));
    }
    std::unordered_set<std::string_view> names{"__metadata__"};
    std::uint64_t offset = 0;
    for (const TensorToWrite* tensor : order) {
        if (!names.insert(tensor->name).second) {
            detail::refuse_tensor(*tensor, "has a name that is taken twice or reserved");
        }
        const std::uint64_t size = detail::checked_size(*tensor);
        header.push_back(detail::header_entry(*tensor, offset, offset + size));
        offset += size;
    }
    std::string text;
    if (!append_json(text, JsonValue::object(std::move(header)))) {
        throw Error(ErrorCode::invalid_argument, "A tensor name or metadata entry to write into " +
                                                     in_quotes(path.string(), longest_quote) + " is not valid UTF-8.");
    }
    // The format pads the header with blanks, so that the data begins at a multiple of 8 bytes.
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();

    AtomicFile file(path);
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(text);
    for (const TensorToWrite* tensor : order) {
        if (!tensor->bytes.empty()) {
            file.write(tensor->bytes);
        } else if (tensor->dtype == DType::f64) {
            detail::write_converted<double>(file, tensor->values);
        } else if (tensor->dtype == DType::bf16) {
            detail::write_converted<BFloat16>(file, tensor->values);
        } else {
            file.write(std::as_bytes(tensor->values));
        }
    }
    file.commit();
}

}  // namespace totograph::io
