// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/machine_memory.hpp>

#include <unistd.h>
#include <limits>

#include <totograph/core/inline.hpp>

namespace totograph {

TOTOGRAPH_INLINE double machine_memory() noexcept {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page)
                                 : std::numeric_limits<double>::infinity();
}

}  // namespace totograph
