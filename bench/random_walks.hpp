// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>

namespace bench {

/// Values of a bucket, `[batch, variates, context]`: random walks, as the reference benchmarks forecast them.
inline std::vector<float> random_walks(const totograph::Bucket& bucket) {
    using totograph::Index;
    std::mt19937 generator(1);
    std::normal_distribution<float> step;
    std::vector<float> values;
    for (Index row = 0; row < bucket.batch * bucket.variates; ++row) {
        float value = 0;
        for (Index i = 0; i < bucket.context; ++i) {
            value += step(generator);
            values.push_back(value);
        }
    }
    return values;
}

}  // namespace bench
