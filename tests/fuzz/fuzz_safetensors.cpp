// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>

#include "require.hpp"

using fuzz::require;

/// Parses the bytes as a safetensors file. Whatever is accepted must cover the data exactly and convert without reading
/// outside of it.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // A copy of the exact size, so that the sanitizer sees a read of one byte too many.
    const std::vector<std::byte> file(reinterpret_cast<const std::byte*>(data),
                                      reinterpret_cast<const std::byte*>(data) + size);
    try {
        const auto tensors = totograph::io::parse_safetensors_header(file, "fuzz.safetensors");
        std::size_t covered = 0;
        for (const totograph::io::TensorInfo& tensor : tensors) {
            require(tensor.begin <= tensor.end && tensor.end <= size);
            require(covered == 0 || tensor.begin == covered);
            covered = tensor.end;
            require(std::all_of(tensor.shape.begin(), tensor.shape.end(), [](auto extent) { return extent >= 0; }));
            if (tensor.dtype && totograph::io::converts_to_float(*tensor.dtype)) {
                const auto bytes = std::span(file).subspan(tensor.begin, tensor.end - tensor.begin);
                require(bytes.size() % totograph::size_in_bytes(*tensor.dtype) == 0);
                std::vector<float> values(bytes.size() / totograph::size_in_bytes(*tensor.dtype));
                totograph::io::decode_to_float(*tensor.dtype, bytes, values);
            }
        }
        require(tensors.empty() || covered == size);
    } catch (const totograph::Error& error) {
        fuzz::require_harmless(error, totograph::ErrorCode::invalid_file);
    }
    return 0;
}
