// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/graph.hpp>

// The reference implementation of attention: lists what a query sees, then sums in double.

namespace totograph::cpu::evaluate_detail {

/// The place of a row, on all axes but the last.
struct RowPlace {
    Index series;
    Index sample;
    Index variate;
    Index position;
};

/// Where a row begins; an axis of extent 1 serves all.
inline const float* row_of(const TensorData& rows, const RowPlace& place) {
    const Shape& shape = rows.shape;
    const Index sample = shape[1] == 1 ? 0 : place.sample;
    return rows.floats() +
           (((place.series * shape[1] + sample) * shape[2] + place.variate) * shape[3] + place.position) * shape[4];
}

/// A key and its value.
struct SeenRow {
    const float* key;
    const float* value;
};

/// One head of one query over the keys that it sees.
inline void attend(const float* query, const std::vector<SeenRow>& seen, const AttentionDescription& attention,
                   double scale, Index head, float* out) {
    const Index key_offset = attention.kv_head_of(head) * attention.head_dim;
    const Index value_offset = attention.kv_head_of(head) * attention.value_dim;
    std::vector<double> scores(seen.size());
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < seen.size(); ++k) {
        double dot = 0;
        for (Index d = 0; d < attention.head_dim; ++d) {
            dot += static_cast<double>(query[head * attention.head_dim + d]) *
                   static_cast<double>(seen[k].key[key_offset + d]);
        }
        scores[k] = dot * scale;
        largest = std::max(largest, scores[k]);
    }
    double total = 0;
    for (double& score : scores) {
        score = std::exp(score - largest);
        total += score;
    }
    for (Index d = 0; d < attention.value_dim; ++d) {
        double sum = 0;
        for (std::size_t k = 0; k < seen.size(); ++k) {
            sum += scores[k] * static_cast<double>(seen[k].value[value_offset + d]);
        }
        out[head * attention.value_dim + d] = seen.empty() ? 0.0F : static_cast<float>(sum / total);
    }
}

/// What the queries of an attention see.
class AttentionView {
public:
    AttentionView(const AttentionDescription& attention, std::span<const TensorData> inputs)
        : attention_(attention), inputs_(inputs), is_over_variates_(attention.axis == AttentionAxis::variates) {}

    /// Lists the keys that a query sees.
    void collect(const RowPlace& query, std::vector<SeenRow>& seen) const {
        seen.clear();
        const Index prefix =
            is_over_variates_ ? inputs_[1].shape[2] : length(AttentionDescription::length_input, query.series);
        const Index count = prefix + (attention_.has_suffix ? length(AttentionDescription::suffix_length_input, 0) : 0);
        const Index own = is_over_variates_ ? query.variate : query.position;
        const Index queries = inputs_[0].shape[is_over_variates_ ? 2 : 3];
        const Index place = attention_.queries == QueryPlaces::first ? own : count - queries + own;
        const bool is_by_group = attention_.mask == KeyMask::by_group;
        if (place >= count || (is_by_group && place < 0)) {
            return;
        }
        for (Index key = 0; key < (attention_.is_causal ? place + 1 : count); ++key) {
            if (attention_.mask != KeyMask::none) {
                const std::int32_t found = mask(query, key, prefix);
                if (is_by_group ? found != mask(query, place, prefix) : found == 0) {
                    continue;
                }
            }
            const bool is_suffix = key >= prefix;
            RowPlace at = query;
            (is_over_variates_ ? at.variate : at.position) = is_suffix ? key - prefix : key;
            seen.push_back({row_of(inputs_[is_suffix ? 4 : 1], at), row_of(inputs_[is_suffix ? 5 : 2], at)});
        }
    }

    /// The factor of the scores.
    [[nodiscard]] double scale() const {
        return attention_.scale_is_data ? inputs_[static_cast<std::size_t>(attention_.scale_input())].get(0)
                                        : attention_.scale;
    }

private:
    [[nodiscard]] Index length(int input, Index series) const {
        const TensorData& lengths = inputs_[static_cast<std::size_t>(input)];
        return lengths.integers()[lengths.shape.size() == 1 ? 0 : series];
    }
    /// The mask's entry of a key. Entries of the suffix stand behind those of the prefix's whole capacity.
    [[nodiscard]] std::int32_t mask(const RowPlace& query, Index key, Index prefix) const {
        const TensorData& ids = inputs_[static_cast<std::size_t>(attention_.mask_input())];
        const Index series = ids.shape[0] == 1 ? 0 : query.series;
        const Index variate = is_over_variates_ ? key : query.variate;
        const Index position = is_over_variates_ ? query.position
                               : key < prefix    ? key
                                                 : inputs_[1].shape[3] + key - prefix;
        return ids.integers()[(series * ids.shape[1] + (ids.shape[1] == 1 ? 0 : variate)) * ids.shape[2] + position];
    }

    const AttentionDescription& attention_;
    std::span<const TensorData> inputs_;
    bool is_over_variates_;
};

inline void attention(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const AttentionView view(node.attention, inputs);
    const double scale = view.scale();
    const Shape& shape = out.shape;
    std::vector<SeenRow> seen;
    for (Index row = 0; row < shape.rows(); ++row) {
        const RowPlace place{row / shape[3] / shape[2] / shape[1], row / shape[3] / shape[2] % shape[1],
                             row / shape[3] % shape[2], row % shape[3]};
        view.collect(place, seen);
        for (Index head = 0; head < node.attention.heads; ++head) {
            attend(inputs[0].floats() + row * inputs[0].shape[4], seen, node.attention, scale, head,
                   out.floats() + row * shape[4]);
        }
    }
}

}  // namespace totograph::cpu::evaluate_detail
