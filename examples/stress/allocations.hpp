// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace examples {

/// How often this program has called operator new, in any thread.
std::uint64_t allocations() noexcept;

}  // namespace examples
