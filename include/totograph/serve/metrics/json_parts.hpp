// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <totograph/core/cache_counts.hpp>
#include <totograph/forecast/bucket.hpp>

// What the JSON of snapshots and of reports shares.
namespace totograph::serve::detail {

/// Keys in the order in which they are added.
using Json = nlohmann::ordered_json;

inline Json bucket_json(const Bucket& bucket) {
    return {{"batch", bucket.batch},     {"variates", bucket.variates}, {"context", bucket.context},
            {"horizon", bucket.horizon}, {"samples", bucket.samples},   {"exogenous", bucket.exogenous}};
}

Json json_of(const CacheCounts& cache);

/// A list of what `to_json` makes of each item.
template <class Items, class ToJson>
Json json_list(const Items& items, ToJson to_json) {
    Json list = Json::array();
    for (const auto& item : items) {
        list.push_back(to_json(item));
    }
    return list;
}

/// The text of a document, UTF-8: bytes that are none are replaced.
inline std::string document_text(const Json& document) {
    constexpr int indent = 2;
    return document.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/json_parts.hpp>
#endif
