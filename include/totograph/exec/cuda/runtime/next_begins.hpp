// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace totograph::cuda {

/// When a kernel lets the next one begin: dependent_launch.hpp says what that one may read then.
enum class NextBegins : std::uint8_t {
    after_wait,  ///< After its own wait for the kernel before it.
    at_once,     ///< Before that.
};

}  // namespace totograph::cuda
