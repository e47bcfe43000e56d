// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <totograph/core/shape.hpp>

// What the tests of attention share: rows in a layout like the model's, and the definition of attention in double.
namespace attention_test {

using totograph::Index;

inline constexpr float missing = std::numeric_limits<float>::quiet_NaN();
inline constexpr Index heads = 3;
inline constexpr Index head = 1;

/// Rows of all heads, a few floats apart so that nothing is aligned by luck.
struct Rows {
    Index stride = 0;
    std::vector<float> elements;

    Rows(Index count, Index head_dim, float fill = missing)
        : stride(heads * head_dim + 5), elements(static_cast<std::size_t>(count * stride), fill) {}

    [[nodiscard]] float* data() { return elements.data(); }
    [[nodiscard]] const float* data() const { return elements.data(); }
    /// The tested head's part of a row.
    [[nodiscard]] float* of(Index row, Index head_dim) { return data() + row * stride + head * head_dim; }
    [[nodiscard]] const float* of(Index row, Index head_dim) const { return data() + row * stride + head * head_dim; }
};

/// Normal numbers in the first `used` of `count` rows of every head, NaN in the others.
inline Rows random_rows(Index count, Index used, Index head_dim, std::uint32_t seed, float deviation = 1.0F) {
    Rows rows(count, head_dim);
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0F, deviation);
    std::generate_n(rows.elements.begin(), used * rows.stride, [&] { return normal(generator); });
    return rows;
}

/// The definition of attention, in double, for one query and any list of keys.
inline std::vector<double> naive_attention(const float* query, const std::vector<const float*>& keys,
                                           const std::vector<const float*>& values, Index head_dim) {
    std::vector<double> scores;
    for (const float* key : keys) {
        double dot = 0.0;
        for (Index d = 0; d < head_dim; ++d) {
            dot += static_cast<double>(query[d]) * static_cast<double>(key[d]);
        }
        scores.push_back(dot / std::sqrt(static_cast<double>(head_dim)));
    }
    std::vector<double> out(static_cast<std::size_t>(head_dim), 0.0);
    if (keys.empty()) {
        return out;
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (std::size_t key = 0; key < keys.size(); ++key) {
        const double weight = std::exp(scores[key] - largest);
        sum += weight;
        for (Index d = 0; d < head_dim; ++d) {
            out[static_cast<std::size_t>(d)] += weight * static_cast<double>(values[key][d]);
        }
    }
    for (double& element : out) {
        element /= sum;
    }
    return out;
}

/// The largest difference between a row and its expectation; infinite if anything is not finite.
inline double difference(const float* found, const std::vector<double>& expected) {
    double largest = 0.0;
    for (std::size_t d = 0; d < expected.size(); ++d) {
        const double gap = std::fabs(static_cast<double>(found[d]) - expected[d]);
        largest = std::isfinite(gap) ? std::max(largest, gap) : std::numeric_limits<double>::infinity();
    }
    return largest;
}

inline bool same_bits(const float* a, const float* b, Index count) {
    return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

inline bool is_zero(const float* row, Index count) {
    return std::all_of(row, row + count, [](float element) { return element == 0.0F; });
}

/// Whether every element outside the tested head still is NaN.
inline bool other_heads_untouched(const Rows& rows, Index head_dim) {
    for (std::size_t at = 0; at < rows.elements.size(); ++at) {
        const Index column = static_cast<Index>(at) % rows.stride;
        if ((column < head * head_dim || column >= (head + 1) * head_dim) && !std::isnan(rows.elements[at])) {
            return false;
        }
    }
    return true;
}

/// Scratch of exactly the promised size, full of NaN.
inline std::vector<float> scratch_of(std::size_t floats) {
    return std::vector<float>(floats, missing);
}

}  // namespace attention_test
