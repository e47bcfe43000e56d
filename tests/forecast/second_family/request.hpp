// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

#include "support/tensor_sources.hpp"

namespace second_family {

using totograph::Series;

inline constexpr totograph::Bucket exact{.batch = 2, .variates = 3, .context = 20, .horizon = 12};
inline constexpr totograph::Bucket larger{.batch = 3, .variates = 4, .context = 32, .horizon = 12};
/// Of so many inputs that a forecast's call copies them to a device, and not its graph.
inline constexpr totograph::Bucket longest{.batch = 3, .variates = 4, .context = 1280, .horizon = 12};

/// Random walks with gaps, whose last variate is in a group of its own.
struct Request {
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    std::vector<std::int32_t> groups{0, 0, 1, 0, 0, 1};

    Request() {
        for (std::uint64_t row = 0; row < 6; ++row) {
            double level = 10 * static_cast<double>(row);
            for (std::uint64_t step = 0; step < 19; ++step) {
                level += totograph::test::uniform(100 * row + step);
                values.push_back(static_cast<float>(level));
                observed.push_back((step + row) % 7 == 3 ? 0 : 1);
            }
        }
    }
    [[nodiscard]] Series series() const {
        return {.batch = 2, .variates = 3, .steps = 19, .values = values, .observed = observed, .groups = groups};
    }
};

}  // namespace second_family
