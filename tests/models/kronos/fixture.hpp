// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/kronos/load.hpp>
#include <totograph/models/kronos/parts.hpp>

#include "support/check_rows.hpp"
#include "support/stored_tensors.hpp"

// Parity cases written by the public implementation: `tests/data/README.md` tells what each file holds.

namespace kronos_fixture {

namespace tg = totograph;
using tg::Index;
using tg::test::check_rows;

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

}  // namespace kronos_fixture
