// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>

namespace totograph::test {

/// A tensor of `tests/data/ops`, which PyTorch computed; all digits that it has.
inline std::vector<double> torch_values(std::string_view name) {
    static const io::SafetensorsFile file(TOTOGRAPH_TEST_DATA "/ops/ops.safetensors");
    const io::TensorInfo* info = file.find(name);
    REQUIRE(info != nullptr);
    if (info->dtype == DType::f32) {
        std::vector<float> values((info->end - info->begin) / sizeof(float));
        file.copy_to_float(*info, values);
        return {values.begin(), values.end()};
    }
    REQUIRE((info->dtype == DType::f64));
    std::vector<double> values((info->end - info->begin) / sizeof(double));
    file.read_bytes(*info, 0, std::as_writable_bytes(std::span(values)));
    return values;
}

}  // namespace totograph::test
