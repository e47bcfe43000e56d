// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
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
void decode_to_float(DType dtype, std::span<const std::byte> bytes, std::span<float> values);

/// The length of a safetensors file's header and the header, as they stand in the file; only the length where that
/// cannot be right, and less where the file ends before.
std::string read_safetensors_head(const RandomAccessFile& file);

/// A safetensors file that is open, its header fully checked. Move-only.
///
/// Nothing is read until it is asked for, and then from the file, straight to where it is wanted: a file that shrinks
/// or is written to meanwhile is an `Error` (see `RandomAccessFile`). Reading from several threads is safe.
class SafetensorsFile {
public:
    /// Opens the file and checks its header. Throws `Error(file_not_found)` when it is missing or no regular file, and
    /// `Error(invalid_file)` when it is empty, of another kind (the message says of which) or breaks the format.
    explicit SafetensorsFile(const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }

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
    void read_bytes(const TensorInfo& info, std::size_t first, std::span<std::byte> to) const;

    /// Reads elements of a tensor of f32, f64, bf16 or f16 as float, from its element `first` on, row-major. Throws as
    /// `read_bytes` does, and `Error(tensor_mismatch)` for another dtype.
    void read_floats(const TensorInfo& info, std::size_t first, std::span<float> values) const;

    /// Reads a whole tensor. `values` must hold exactly its elements.
    /// Throws as `read_floats` does, and `Error(tensor_mismatch)` for another number of elements.
    void copy_to_float(const TensorInfo& info, std::span<float> values) const;

private:
    [[nodiscard]] std::string described(const TensorInfo& info) const {
        return "The tensor " + in_quotes(info.name, longest_quote) + " in " + in_quotes(path(), longest_quote);
    }

    RandomAccessFile file_;
    std::uint64_t header_checksum_ = 0;
    std::vector<TensorInfo> tensors_;
    std::map<std::string, std::size_t, std::less<>> positions_;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/safetensors.hpp>
#endif
