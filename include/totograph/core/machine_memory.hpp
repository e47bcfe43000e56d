// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

namespace totograph {

/// Bytes of memory that the machine is equipped with, whoever uses them; infinity when it does not tell. A double, for
/// comparisons with products that an integer might not hold.
double machine_memory() noexcept;

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/core/impl/machine_memory.hpp>
#endif
