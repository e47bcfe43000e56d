// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/json_parts.hpp>

#include <nlohmann/json.hpp>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/inline.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE Json json_of(const CacheCounts& cache) {
    return {{"name", cache.name},
            {"hits", cache.hits},
            {"misses", cache.misses},
            {"ignored", cache.ignored},
            {"last_reason", cache.last_reason}};
}

}  // namespace totograph::serve::detail
