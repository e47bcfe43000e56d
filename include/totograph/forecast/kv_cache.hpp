// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>

// What a forecaster's KV caches hold, for whoever looks between two forecasts. A cache is named as its model names it,
// such as `prefix` or `suffix`: its states are `<name>.keys` and `<name>.values` of each layer that attends over time,
// `[batch, samples, variates, capacity, width]`, and `<name>.length`, where programs append to it.

namespace totograph {

/// Positions of a KV cache.
struct KvCachePositions {
    Index length = 0;    ///< That hold keys and values.
    Index capacity = 0;  ///< That there is room for.

    friend bool operator==(const KvCachePositions&, const KvCachePositions&) = default;
};

namespace forecast_detail {

/// The state of keys of any layer that has the cache.
template <class Layout>
const auto& require_cache(std::string_view cache) {
    const std::string keys = std::string(cache) + ".keys";
    for (std::size_t i = 0; i < Layout::count; ++i) {
        if (Layout::entries[i].slot.name == keys) {
            return Layout::entries[i];
        }
    }
    throw Error(ErrorCode::invalid_argument, "The programs of this forecaster have no KV cache '" + std::string(cache) +
                                                 "'. Name one of its model, such as 'prefix' or 'suffix'.");
}

}  // namespace forecast_detail

/// How much of a cache is in use: what its own length says, or, of one that a context fills as a whole, the positions
/// of the longest series, with the tokens before its patches. Copies from a device where the forecaster is there.
/// Throws `Error` (`invalid_argument`) when no program has a cache of this name.
template <class Forecaster>
[[nodiscard]] KvCachePositions kv_cache(Forecaster& forecaster, std::string_view cache) {
    using Layout = typename Forecaster::Executor::Layout;
    const Index capacity = forecast_detail::require_cache<Layout>(cache).slot.shape[3];
    const std::string own = std::string(cache) + ".length";
    const bool has_own = Layout::find(own) != nullptr;
    const std::vector<std::int32_t> lengths =
        forecaster.template read_state<std::int32_t>(has_own ? std::string_view(own) : std::string_view("length"));
    const Index prepended = has_own ? 0 : Forecaster::sizes.prepended;
    const Index longest = *std::max_element(lengths.begin(), lengths.end()) + prepended;
    return {std::min(longest, capacity), capacity};
}

/// Forgets all positions of a cache that programs append to; the next step appends at its begin. Keys and values stay
/// where they are, unread. Throws `Error` (`invalid_argument`) when there is none of this name, or its length is that
/// of the context.
template <class Forecaster>
void reset_kv_cache(Forecaster& forecaster, std::string_view cache) {
    using Layout = typename Forecaster::Executor::Layout;
    (void)forecast_detail::require_cache<Layout>(cache);
    const std::string own = std::string(cache) + ".length";
    if (Layout::find(own) == nullptr) {
        throw Error(ErrorCode::invalid_argument, "The KV cache '" + std::string(cache) +
                                                     "' is filled by a context and has no length of its own to reset. "
                                                     "Forecast from another context.");
    }
    forecaster.template write_state<std::int32_t>(own, std::vector<std::int32_t>{0});
}

}  // namespace totograph
