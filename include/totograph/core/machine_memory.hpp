// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include <unistd.h>

namespace totograph {

/// Bytes of memory that the machine is equipped with, whoever uses them; infinity when it does not tell. A double, for
/// comparisons with products that an integer might not hold.
inline double machine_memory() noexcept {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page)
                                 : std::numeric_limits<double>::infinity();
}

}  // namespace totograph
