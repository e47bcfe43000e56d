// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/needs_f32.hpp>

namespace totograph::cuda {

/// The precision of one program where `asked` is that of all.
template <Precision asked, class Program>
inline constexpr Precision precision_of = needs_f32<Program> ? Precision::f32 : asked;

}  // namespace totograph::cuda
