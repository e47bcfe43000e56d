// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/kronos/load.hpp>
#include <totograph/models/kronos/parts.hpp>

#include "support/stored_tensors.hpp"

// Parity cases written by the public implementation: `tests/data/README.md` tells what each file holds.

namespace kronos_fixture {

namespace tg = totograph;
using tg::Index;

inline std::filesystem::path folder(const std::string& name) {
    return std::filesystem::path(TOTOGRAPH_TEST_DATA) / "kronos" / name;
}

template <class Case>
tg::ModelWeights<Case> load(const std::string& name) {
    return tg::kronos::load<Case>(folder(name) / "tokenizer", folder(name) / "predictor");
}

/// The tensors of a case.
class Tensors : public tg::test::StoredTensors {
public:
    explicit Tensors(const std::string& name) : tg::test::StoredTensors(folder(name) / "io.safetensors") {}
};

/// Rows `[batch, steps, columns]` as `[batch, columns, steps]`, appended to those of other columns.
struct Inputs {
    std::vector<float> values;
    std::vector<float> future;
    tg::Series series;

    explicit Inputs(const Tensors& tensors) {
        const auto features = tensors["features"];
        const auto stamps = tensors["x_stamp"];
        const auto ahead = tensors["y_stamp"];
        const Index batch = tensors.shape("features")[0];
        const Index steps = tensors.shape("features")[1];
        const Index horizon = tensors.shape("y_stamp")[1];
        const auto add = [](const std::vector<float>& rows, Index b, Index count, Index columns, auto& to) {
            for (Index column = 0; column < columns; ++column) {
                for (Index step = 0; step < count; ++step) {
                    to.push_back(rows[static_cast<std::size_t>((b * count + step) * columns + column)]);
                }
            }
        };
        for (Index b = 0; b < batch; ++b) {
            add(features, b, steps, tg::kronos::column_count, values);
            add(stamps, b, steps, tg::kronos::stamp_count, values);
            add(ahead, b, horizon, tg::kronos::stamp_count, future);
        }
        series = {.batch = batch,
                  .variates = tg::kronos::variate_count,
                  .steps = steps,
                  .values = values,
                  .exogenous = tg::kronos::stamp_count,
                  .future_exogenous = future};
    }
};

/// Checks rows of `width` values: each within 6e-5, or 1e-5 of the largest value of its row. The reference's own f32 is
/// up to 1.4e-5 from its f64 for logits up to 10.
inline void check_tensor(const std::string& what, std::span<const float> found, std::span<const float> expected,
                         std::size_t width) {
    REQUIRE_MESSAGE(found.size() == expected.size(), what);
    double worst = 0;
    for (std::size_t first = 0; first < found.size(); first += width) {
        double largest = 0;
        double error = 0;
        for (std::size_t i = first; i < first + width; ++i) {
            largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
            const double distance = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
            error = std::isnan(distance) ? INFINITY : std::max(error, distance);
        }
        worst = std::max(worst, error / std::max(6e-5, 1e-5 * largest));
    }
    CHECK_MESSAGE(worst <= 1, what << ": " << worst << " times the bound");
}

}  // namespace kronos_fixture
