// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/checkpoint/safetensors.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/cache/block_checksum.hpp>
#include <totograph/io/checkpoint/foreign_file.hpp>
#include <totograph/io/checkpoint/safetensors_header.hpp>
#include <totograph/io/random_access_file.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE void decode_to_float(DType dtype, std::span<const std::byte> bytes, std::span<float> values) {
    switch (dtype) {
        case DType::f32:
            if (!values.empty()) {
                std::memcpy(values.data(), bytes.data(), bytes.size());
            }
            return;
        case DType::f64: return detail::decode_elements<double>(bytes.data(), values.data(), values.size());
        case DType::bf16: return detail::decode_elements<BFloat16>(bytes.data(), values.data(), values.size());
        case DType::f16: return detail::decode_elements<Float16>(bytes.data(), values.data(), values.size());
        case DType::i32: return;
    }
}

TOTOGRAPH_INLINE std::string read_safetensors_head(const RandomAccessFile& file) {
    std::uint64_t length = 0;
    std::string head(std::min(file.size(), sizeof length), '\0');
    file.read(0, std::as_writable_bytes(std::span(head)));
    if (head.size() == sizeof length) {
        std::memcpy(&length, head.data(), sizeof length);
        if (length <= max_safetensors_header && length <= file.size() - sizeof length) {
            head.resize(sizeof length + static_cast<std::size_t>(length));
            file.read(sizeof length, std::as_writable_bytes(std::span(head).subspan(sizeof length)));
        }
    }
    return head;
}

TOTOGRAPH_INLINE SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path) {
    refuse_foreign(file_, foreign_content_of_safetensors);
    const std::string head = read_safetensors_head(file_);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(head));
    header_checksum_ = fast_checksum(bytes);
    tensors_ = parse_safetensors_header(bytes, path, file_.size());
    for (std::size_t index = 0; index < tensors_.size(); ++index) {
        positions_.emplace(tensors_[index].name, index);
    }
}

TOTOGRAPH_INLINE void SafetensorsFile::read_bytes(const TensorInfo& info, std::size_t first,
                                                  std::span<std::byte> to) const {
    const bool is_inside = info.begin <= info.end && info.end <= file_.size();
    if (!is_inside || first > info.end - info.begin || to.size() > info.end - info.begin - first) {
        throw Error(ErrorCode::invalid_argument, "The range of the tensor " + in_quotes(info.name, longest_quote) +
                                                     " does not lie inside " + in_quotes(path(), longest_quote) +
                                                     "; take it from the tensors of this file.");
    }
    file_.read(info.begin + first, to);
}

TOTOGRAPH_INLINE void SafetensorsFile::read_floats(const TensorInfo& info, std::size_t first,
                                                   std::span<float> values) const {
    if (!info.dtype || !converts_to_float(*info.dtype)) {
        throw Error(ErrorCode::tensor_mismatch, described(info) + " has the dtype " + in_quotes(info.dtype_name) +
                                                    ", but F32, F64, BF16 or F16 was expected.");
    }
    if (*info.dtype == DType::f32) {
        return read_bytes(info, first * sizeof(float), std::as_writable_bytes(values));
    }
    const std::size_t size = size_in_bytes(*info.dtype);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled before it is read, and zeros would cost time.
    std::array<std::byte, (std::size_t{1} << 14U)> stored;
    while (!values.empty()) {
        const std::size_t count = std::min(values.size(), stored.size() / size);
        const std::span<std::byte> part = std::span(stored).first(count * size);
        read_bytes(info, first * size, part);
        decode_to_float(*info.dtype, part, values.first(count));
        values = values.subspan(count);
        first += count;
    }
}

TOTOGRAPH_INLINE void SafetensorsFile::copy_to_float(const TensorInfo& info, std::span<float> values) const {
    const std::size_t size = info.dtype ? size_in_bytes(*info.dtype) : 1;
    const std::size_t bytes = info.end - info.begin;
    if (info.dtype && (bytes / size != values.size() || bytes % size != 0)) {
        throw Error(ErrorCode::tensor_mismatch, described(info) + " has the shape " + to_string(info.shape) + " of " +
                                                    std::to_string(bytes / size) + " elements, but " +
                                                    std::to_string(values.size()) + " elements were expected.");
    }
    read_floats(info, 0, values);
}

}  // namespace totograph::io
