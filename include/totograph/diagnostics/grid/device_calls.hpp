// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace totograph::serve {

/// What a process has asked of its devices since it began, as counted in front of their runtime.
struct DeviceCalls {
    std::uint64_t waits = 0;           ///< Of the host for a device.
    std::uint64_t graph_launches = 0;  ///< Graphs that were replayed.
    std::uint64_t captures = 0;        ///< Streams whose capture was begun.
};

}  // namespace totograph::serve
