// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain/attention.hpp>

#include <string>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::detail {

TOTOGRAPH_INLINE std::string attention_text(const AttentionDescription& attention, Index positions) {
    std::string text = "attention of " + std::to_string(attention.heads) + (attention.heads == 1 ? " head" : " heads") +
                       " of " + std::to_string(attention.head_dim);
    if (attention.value_dim != attention.head_dim) {
        text += " to " + std::to_string(attention.value_dim);
    }
    if (attention.kv_heads != attention.heads) {
        text += " on " + std::to_string(attention.kv_heads);
    }
    if (attention.scale_is_data) {
        text += ", scale from data";
    } else if (attention.scale != usual_attention_scale(attention.head_dim)) {
        text += ", scale " + number_text(attention.scale);
    }
    if (attention.axis == AttentionAxis::variates) {
        text += ", over variates";
    } else if (!attention.is_decode(positions)) {
        text += attention.is_causal ? ", causal" : ", not causal";
    }
    if (attention.axis == AttentionAxis::positions && attention.queries == QueryPlaces::last) {
        text += attention.has_suffix ? ", against a cache and a suffix" : ", against a cache";
    }
    return text + (attention.mask == KeyMask::by_key     ? ", by key"
                   : attention.mask == KeyMask::by_group ? ", by group"
                                                         : "");
}

}  // namespace totograph::detail
