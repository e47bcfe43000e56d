// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "totograph/core/dtype.hpp"
#include "totograph/core/error.hpp"
#include "totograph/io/mapped_file.hpp"
#include "totograph/io/safetensors_header.hpp"
#include "totograph/io/text.hpp"

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

/// A safetensors file, memory-mapped read-only, its header fully checked. Move-only.
///
/// Nothing is copied until it is asked for, and `release` gives memory back, so that loading a checkpoint never needs
/// the file and its converted copy at once. Reading from several threads is safe.
class SafetensorsFile {
public:
    /// Maps the file and checks its header. Throws `Error(file_not_found)` when it is missing or a directory, and
    /// `Error(invalid_file)` when it is empty or breaks the format.
    explicit SafetensorsFile(const std::filesystem::path& path)
        : file_(path), tensors_(parse_safetensors_header(file_.bytes(), path.string())) {
        for (std::size_t index = 0; index < tensors_.size(); ++index) {
            positions_.emplace(tensors_[index].name, index);
        }
    }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }

    /// All tensors, in the order of their data in the file.
    [[nodiscard]] std::span<const TensorInfo> tensors() const noexcept { return tensors_; }

    /// The tensor of this name, or null. The pointer lives as long as this object.
    [[nodiscard]] const TensorInfo* find(std::string_view name) const {
        const auto position = positions_.find(name);
        return position == positions_.end() ? nullptr : &tensors_[position->second];
    }

    /// The raw little-endian bytes of a tensor, at any alignment; they live as long as this object.
    /// Throws `Error(invalid_argument)` when the information is of another file and reaches outside of this one.
    [[nodiscard]] std::span<const std::byte> bytes(const TensorInfo& info) const {
        const auto all = file_.bytes();
        if (info.begin > info.end || info.end > all.size()) {
            throw Error(ErrorCode::invalid_argument, "The range of the tensor " + in_quotes(info.name, 300) +
                                                         " does not lie inside " + in_quotes(path().string(), 1000) +
                                                         "; take it from the tensors of this file.");
        }
        return all.subspan(info.begin, info.end - info.begin);
    }

    /// Converts a tensor of f32, f64, bf16 or f16 to float, row-major. `values` must hold exactly its elements.
    /// Throws `Error(tensor_mismatch)` for another dtype or another number of elements.
    void copy_to_float(const TensorInfo& info, std::span<float> values) const {
        const auto stored = bytes(info);
        const std::string where = "The tensor " + in_quotes(info.name, 300) + " in " + in_quotes(path().string(), 1000);
        if (!info.dtype || !converts_to_float(*info.dtype)) {
            throw Error(ErrorCode::tensor_mismatch, where + " has the dtype " + in_quotes(info.dtype_name) +
                                                        ", but F32, F64, BF16 or F16 was expected.");
        }
        const std::size_t elements = stored.size() / size_in_bytes(*info.dtype);
        if (elements != values.size() || stored.size() % size_in_bytes(*info.dtype) != 0) {
            throw Error(ErrorCode::tensor_mismatch, where + " has the shape " + to_string(info.shape) + " of " +
                                                        std::to_string(elements) + " elements, but " +
                                                        std::to_string(values.size()) + " elements were expected.");
        }
        decode_to_float(*info.dtype, stored, values);
    }

    /// Gives back the memory of the whole pages inside a tensor, once it has been copied; the bytes stay readable and
    /// are fetched from the file again when touched.
    void release(const TensorInfo& info) const noexcept { file_.release(info.begin, info.end); }

private:
    MappedFile file_;
    std::vector<TensorInfo> tensors_;
    std::map<std::string, std::size_t, std::less<>> positions_;
};

}  // namespace totograph::io
