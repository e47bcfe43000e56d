// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/io/cache/block_checksum.hpp>
#include <totograph/io/checkpoint/foreign_file.hpp>
#include <totograph/io/checkpoint/safetensors_header.hpp>
#include <totograph/io/random_access_file.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

/// Whether elements of this type can be read as `float`.
constexpr bool converts_to_float(DType dtype) noexcept {
    return dtype != DType::i32;
}

namespace detail {

// Plain pointers: nvcc 13 may spell a span in the signature of a template in a way that a later GCC refuses.
template <class Element>
void decode_elements(const std::byte* bytes, float* values, std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
        // Tensors lie at any byte offset in a file, so an element may not be read through a typed pointer.
        Element element;
        std::memcpy(&element, bytes + index * sizeof(Element), sizeof(Element));
        values[index] = static_cast<float>(element);
    }
}

}  // namespace detail

/// Converts stored elements (f32, f64, bf16 or f16, at any alignment) to float. A double rounds to the nearest float;
/// one beyond the range of float becomes infinite.
///
/// Precondition: `converts_to_float(dtype)` and `bytes` holds exactly `values.size()` elements.
inline void decode_to_float(DType dtype, std::span<const std::byte> bytes, std::span<float> values) {
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

/// The length of a safetensors file's header and the header, as they stand in the file; only the length where that
/// cannot be right, and less where the file ends before.
inline std::string read_safetensors_head(const RandomAccessFile& file) {
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

/// A safetensors file that is open, its header fully checked. Move-only.
///
/// Nothing is read until it is asked for, and then from the file, straight to where it is wanted: a file that shrinks
/// or is written to meanwhile is an `Error` (see `RandomAccessFile`). Reading from several threads is safe.
class SafetensorsFile {
public:
    /// Opens the file and checks its header. Throws `Error(file_not_found)` when it is missing or no regular file, and
    /// `Error(invalid_file)` when it is empty, of another kind (the message says of which) or breaks the format.
    explicit SafetensorsFile(const std::filesystem::path& path) : file_(path) {
        refuse_other_kinds();
        const std::string head = read_safetensors_head(file_);
        const std::span<const std::byte> bytes = std::as_bytes(std::span(head));
        header_checksum_ = fast_checksum(bytes);
        tensors_ = parse_safetensors_header(bytes, path.string(), file_.size());
        for (std::size_t index = 0; index < tensors_.size(); ++index) {
            positions_.emplace(tensors_[index].name, index);
        }
    }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }

    /// A number that files with other headers do not have, but for a chance of one in 2^64.
    [[nodiscard]] std::uint64_t header_checksum() const noexcept { return header_checksum_; }

    /// All tensors, in the order of their data in the file.
    [[nodiscard]] std::span<const TensorInfo> tensors() const noexcept { return tensors_; }

    /// The tensor of this name, or null. The pointer lives as long as this object.
    [[nodiscard]] const TensorInfo* find(std::string_view name) const {
        const auto position = positions_.find(name);
        return position == positions_.end() ? nullptr : &tensors_[position->second];
    }

    /// Reads raw little-endian bytes of a tensor, from its byte `first` on.
    /// Throws `Error(invalid_argument)` when they do not lie inside the tensor, or the information is of another file
    /// and reaches outside of this one; `Error(io_failure)` when they cannot be read.
    void read_bytes(const TensorInfo& info, std::size_t first, std::span<std::byte> to) const {
        const bool is_inside = info.begin <= info.end && info.end <= file_.size();
        if (!is_inside || first > info.end - info.begin || to.size() > info.end - info.begin - first) {
            throw Error(ErrorCode::invalid_argument,
                        "The range of the tensor " + in_quotes(info.name, longest_quote) + " does not lie inside " +
                            in_quotes(path().string(), longest_quote) + "; take it from the tensors of this file.");
        }
        file_.read(info.begin + first, to);
    }

    /// Reads elements of a tensor of f32, f64, bf16 or f16 as float, from its element `first` on, row-major. Throws as
    /// `read_bytes` does, and `Error(tensor_mismatch)` for another dtype.
    void read_floats(const TensorInfo& info, std::size_t first, std::span<float> values) const {
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

    /// Reads a whole tensor. `values` must hold exactly its elements.
    /// Throws as `read_floats` does, and `Error(tensor_mismatch)` for another number of elements.
    void copy_to_float(const TensorInfo& info, std::span<float> values) const {
        const std::size_t size = info.dtype ? size_in_bytes(*info.dtype) : 1;
        const std::size_t bytes = info.end - info.begin;
        if (info.dtype && (bytes / size != values.size() || bytes % size != 0)) {
            throw Error(ErrorCode::tensor_mismatch, described(info) + " has the shape " + to_string(info.shape) +
                                                        " of " + std::to_string(bytes / size) + " elements, but " +
                                                        std::to_string(values.size()) + " elements were expected.");
        }
        read_floats(info, 0, values);
    }

private:
    void refuse_other_kinds() const {
        const std::string name = "The file " + in_quotes(path().string(), longest_quote);
        if (file_.size() == 0) {
            throw Error(ErrorCode::invalid_file, name + " is empty: it was not downloaded or written to its end.");
        }
        std::string start(std::min(file_.size(), foreign_content_bytes), '\0');
        file_.read(0, std::as_writable_bytes(std::span(start)));
        if (const std::string kind = foreign_content_of_safetensors(start); !kind.empty()) {
            throw Error(ErrorCode::invalid_file, name + " " + kind);
        }
    }

    [[nodiscard]] std::string described(const TensorInfo& info) const {
        return "The tensor " + in_quotes(info.name, longest_quote) + " in " + in_quotes(path().string(), longest_quote);
    }

    RandomAccessFile file_;
    std::uint64_t header_checksum_ = 0;
    std::vector<TensorInfo> tensors_;
    std::map<std::string, std::size_t, std::less<>> positions_;
};

}  // namespace totograph::io
