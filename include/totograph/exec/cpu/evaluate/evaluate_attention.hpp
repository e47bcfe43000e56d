// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/graph/graph.hpp>

// The reference implementation of attention: lists what a query sees, then sums in double.

namespace totograph::cpu::evaluate_detail {

/// Rows of queries, keys and values of an attention.
struct Rows {
    const TensorData* tensor;

    [[nodiscard]] const float* at(Index series, Index sample, Index variate, Index position) const {
        const Shape& shape = tensor->shape;
        const Index shared = shape[1] == 1 ? 0 : sample;
        return tensor->floats() +
               (((series * shape[1] + shared) * shape[2] + variate) * shape[3] + position) * shape[4];
    }
};

/// One head of one query over some keys and values.
inline void attend(const float* query, const std::vector<const float*>& keys, const std::vector<const float*>& values,
                   Index offset, Index width, float* out) {
    std::vector<double> scores(keys.size());
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < keys.size(); ++k) {
        double dot = 0;
        for (Index d = 0; d < width; ++d) {
            dot += static_cast<double>(query[offset + d]) * static_cast<double>(keys[k][offset + d]);
        }
        scores[k] = dot / std::sqrt(static_cast<double>(width));
        largest = std::max(largest, scores[k]);
    }
    double total = 0;
    for (double& score : scores) {
        score = std::exp(score - largest);
        total += score;
    }
    for (Index d = 0; d < width; ++d) {
        double sum = 0;
        for (std::size_t k = 0; k < keys.size(); ++k) {
            sum += scores[k] * static_cast<double>(values[k][offset + d]);
        }
        out[offset + d] = keys.empty() ? 0.0F : static_cast<float>(sum / total);
    }
}

/// Any attention: `collect(series, sample, variate, position, keys, values)` lists what a query sees.
template <class Collect>
void attention(const TensorData& query, Index heads, const TensorData& out, Collect&& collect) {
    const Shape& shape = query.shape;
    const Index width = shape[4] / heads;
    std::vector<const float*> keys;
    std::vector<const float*> values;
    for (Index row = 0; row < shape.rows(); ++row) {
        const Index position = row % shape[3];
        const Index variate = row / shape[3] % shape[2];
        const Index sample = row / shape[3] / shape[2] % shape[1];
        const Index series = row / shape[3] / shape[2] / shape[1];
        keys.clear();
        values.clear();
        collect(series, sample, variate, position, keys, values);
        for (Index head = 0; head < heads; ++head) {
            attend(query.floats() + row * shape[4], keys, values, head * width, width, out.floats() + row * shape[4]);
        }
    }
}

inline void causal_attention(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const Rows key{&inputs[1]};
    const Rows value{&inputs[2]};
    attention(inputs[0], node.attributes[0], out, [&](Index b, Index s, Index v, Index p, auto& keys, auto& values) {
        const Index valid = inputs[3].integers()[inputs[3].shape.size() == 1 ? 0 : b];
        for (Index other = 0; other <= p && other < valid && p < valid; ++other) {
            keys.push_back(key.at(b, s, v, other));
            values.push_back(value.at(b, s, v, other));
        }
    });
}

inline void cached_attention(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const Rows prefix_key{&inputs[1]};
    const Rows prefix_value{&inputs[2]};
    const Rows suffix_key{&inputs[4]};
    const Rows suffix_value{&inputs[5]};
    attention(inputs[0], node.attributes[0], out, [&](Index b, Index s, Index v, Index, auto& keys, auto& values) {
        for (Index p = 0; p < inputs[3].integers()[inputs[3].shape.size() == 1 ? 0 : b]; ++p) {
            keys.push_back(prefix_key.at(b, s, v, p));
            values.push_back(prefix_value.at(b, s, v, p));
        }
        for (Index p = 0; p < inputs[6].integers()[0]; ++p) {
            keys.push_back(suffix_key.at(b, s, v, p));
            values.push_back(suffix_value.at(b, s, v, p));
        }
    });
}

inline void variate_attention(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const Rows key{&inputs[1]};
    const Rows value{&inputs[2]};
    const Shape& groups = inputs[3].shape;
    const auto group = [&](Index b, Index v, Index p) {
        return inputs[3].integers()[(b * groups[1] + v) * groups[2] + p];
    };
    attention(inputs[0], node.attributes[0], out, [&](Index b, Index s, Index v, Index p, auto& keys, auto& values) {
        for (Index other = 0; other < groups[1]; ++other) {
            if (group(b, other, p) == group(b, v, p)) {
                keys.push_back(key.at(b, s, other, p));
                values.push_back(value.at(b, s, other, p));
            }
        }
    });
}

}  // namespace totograph::cpu::evaluate_detail
