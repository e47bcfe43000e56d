// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/finite.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>

// A model with one weight that is not finite forecasts nothing, so no tensor goes further than here with one.

namespace totograph {

/// Throws the `Error` for a value that is not finite, at this place of a tensor in row-major order.
[[noreturn]] void refuse_weight(const std::string& name, const Shape& shape, Index at, float value);

/// Throws `Error` (`tensor_mismatch`), which names the tensor and the first bad index, unless all values of a tensor
/// are finite.
void require_finite(const std::string& name, const Shape& shape, std::span<const float> values);

/// The same for a tensor that is read in parts.
void require_finite(const std::string& name, const Shape& shape, const TensorReader& reader);

/// The same for a tensor of a source. Throws what reading it throws, too.
void require_finite(const TensorSource& source, const std::string& name, const Shape& shape);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/finite_weights.hpp>
#endif
