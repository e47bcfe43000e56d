// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/atomic_file.hpp>
#include <totograph/io/checkpoint/safetensors_header.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

/// One tensor to write. Its data is either `values`, which are converted to `dtype` (f32, f64 or bf16), or `bytes`,
/// which are already of `dtype` (any) and are written as they are. The other one stays empty.
struct TensorToWrite {
    std::string name;
    DType dtype = DType::f32;
    std::vector<Index> shape;            ///< Row-major; empty for a scalar.
    std::span<const float> values{};     ///< Elements to convert.
    std::span<const std::byte> bytes{};  ///< Elements as they are to be stored.
};

namespace detail {

constexpr std::string_view safetensors_name(DType dtype) noexcept {
    for (const SafetensorsType& type : safetensors_types) {
        if (type.dtype == dtype) {
            return type.name;
        }
    }
    return "";
}

[[noreturn]] inline void refuse_tensor(const TensorToWrite& tensor, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "The tensor " + in_quotes(tensor.name, 300) + " to write " + what + ".");
}

/// Checks a tensor and returns its size in bytes.
std::uint64_t checked_size(const TensorToWrite& tensor);

/// The entry of a tensor in the header.
JsonValue header_entry(const TensorToWrite& tensor, std::uint64_t begin, std::uint64_t end);

template <class Element>
void write_converted(AtomicFile& file, std::span<const float> values) {
    std::vector<Element> block(std::min<std::size_t>(values.size(), 65536));
    while (!values.empty()) {
        const std::size_t count = std::min(values.size(), block.size());
        std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), block.begin(),
                       [](float value) { return static_cast<Element>(value); });
        file.write(std::as_bytes(std::span(block).first(count)));
        values = values.subspan(count);
    }
}

}  // namespace detail

/// Writes tensors, and if wanted string metadata, as a safetensors file. It appears under its name only when it is
/// complete: until then it is a temporary file beside it. Wider element types come first, so that all are aligned.
///
/// Throws `Error(invalid_argument)` for a name that is taken twice, reserved or not UTF-8, and for data that does not
/// fit the shape; `Error(file_not_found)` when the directory cannot be written and `Error(io_failure)` when writing
/// fails, each with the system's reason. Whatever is thrown, a file that was there before is unchanged.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/safetensors_writer.hpp>
#endif
