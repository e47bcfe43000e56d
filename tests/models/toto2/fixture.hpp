// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>

#include "models/toto1/closeness.hpp"
#include "support/stored_tensors.hpp"

// Parity cases written by the public implementation: `tests/data/README.md` tells what each file holds.

namespace toto2_fixture {

namespace tg = totograph;
using tg::Index;

inline std::filesystem::path folder(const std::string& name) {
    return std::filesystem::path(TOTOGRAPH_TEST_DATA) / "toto2" / name;
}

/// The tensors of a case.
class Tensors : public tg::test::StoredTensors {
public:
    explicit Tensors(const std::string& name) : tg::test::StoredTensors(folder(name) / "io.safetensors") {}
};

/// The inputs of a case as a series, targets first; owns what the series views.
struct Inputs {
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    std::vector<std::int32_t> groups;
    std::vector<float> future;
    std::vector<std::uint8_t> future_observed;
    tg::Series series;

    Inputs(const Tensors& tensors, Index horizon, Index patch) {
        const auto& targets = tensors.shape("target");
        const bool has_known = tensors.contains("known_dynamic");
        const Index known = has_known ? tensors.shape("known_dynamic")[1] : 0;
        series = {.batch = targets[0], .variates = targets[1] + known, .steps = targets[2]};
        for (Index b = 0; b < series.batch; ++b) {
            add_context(tensors, "target", "target_mask", "series_ids", b);
            if (has_known) {
                add_context(tensors, "known_dynamic", "known_dynamic_mask", "known_dynamic_series_ids", b);
            }
        }
        // The reference takes the newest patch of a target as given, masked or not. A row without any observation is
        // an error of ours: here it says what the reference makes of it.
        for (Index row = 0; row < series.rows(); ++row) {
            const auto begin = observed.begin() + row * series.steps;
            if (row % series.variates < targets[1] && std::count(begin, begin + series.steps, 1) == 0) {
                std::fill(begin + series.steps - patch, begin + series.steps, std::uint8_t{1});
            }
        }
        if (has_known) {
            add_future(tensors, horizon);
            series.exogenous = known;
            series.future_exogenous = future;
            series.future_observed = future_observed;
        }
        series.values = values;
        series.observed = observed;
        series.groups = groups;
    }

private:
    void add_context(const Tensors& tensors, const std::string& name, const std::string& mask, const std::string& ids,
                     Index b) {
        const auto all = tensors[name];
        const auto seen = tensors[mask];
        const auto& shape = tensors.shape(name);
        for (Index row = b * shape[1]; row < (b + 1) * shape[1]; ++row) {
            const Index from = row * shape[2];
            for (Index step = from; step < from + series.steps; ++step) {
                values.push_back(all[static_cast<std::size_t>(step)]);
                observed.push_back(seen[static_cast<std::size_t>(step)] != 0 ? 1 : 0);
            }
            groups.push_back(static_cast<std::int32_t>(tensors[ids][static_cast<std::size_t>(row)]));
        }
    }

    void add_future(const Tensors& tensors, Index horizon) {
        const auto all = tensors["known_dynamic"];
        const auto seen = tensors["known_dynamic_mask"];
        const auto& shape = tensors.shape("known_dynamic");
        for (Index row = 0; row < shape[0] * shape[1]; ++row) {
            for (Index step = series.steps; step < series.steps + horizon; ++step) {
                const auto at = static_cast<std::size_t>(row * shape[2] + step);
                const bool is_known = step < shape[2] && seen[at] != 0;
                future.push_back(is_known ? all[at] : 0.0F);
                future_observed.push_back(is_known ? 1 : 0);
            }
        }
    }
};

/// How far the forecast of a variate is from the reference, at most.
struct QuantileError {
    double largest = 0;  ///< Of the reference's values.
    double error = 0;
    double of_reference = 0;  ///< Of its own f32.
};

/// The errors of forecasts of targets, `[batch, variates, horizon, levels]`, against the reference's `[levels, batch,
/// variates, horizon]`: of each series and target.
inline std::vector<QuantileError> quantile_errors(const Tensors& tensors, const std::vector<float>& found,
                                                  Index variates) {
    const auto expected = tensors["quantiles"];
    const auto in_f32 = tensors["quantiles_f32"];
    const auto& shape = tensors.shape("quantiles");
    const Index levels = shape[0];
    const Index targets = shape[2];
    const Index horizon = shape[3];
    REQUIRE(static_cast<Index>(found.size()) == shape[1] * variates * horizon * levels);
    std::vector<QuantileError> rows(static_cast<std::size_t>(shape[1] * targets));
    for (Index row = 0; row < shape[1] * targets; ++row) {
        QuantileError& result = rows[static_cast<std::size_t>(row)];
        for (Index at = 0; at < horizon * levels; ++at) {
            const Index step = at / levels;
            const auto place = static_cast<std::size_t>((at % levels * shape[1] * targets + row) * horizon + step);
            const Index found_row = row / targets * variates + row % targets;
            const auto value =
                static_cast<double>(found[static_cast<std::size_t>((found_row * horizon * levels) + at)]);
            const auto truth = static_cast<double>(expected[place]);
            result.largest = std::max(result.largest, std::abs(truth));
            result.error = std::max(result.error, std::abs(value - truth));
            result.of_reference = std::max(result.of_reference, std::abs(static_cast<double>(in_f32[place]) - truth));
        }
    }
    return rows;
}

/// Checks forecasts of targets: each variate within a bound of its largest value, or three times as far as the
/// reference's own f32 is.
inline void check_quantiles(const Tensors& tensors, const std::vector<float>& found, Index variates,
                            double bound = 1e-5) {
    const auto rows = quantile_errors(tensors, found, variates);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const QuantileError& found_row = rows[row];
        CAPTURE(row);
        CAPTURE(found_row.error / found_row.largest);
        CAPTURE(found_row.of_reference / found_row.largest);
        CHECK(found_row.error <= std::max(bound * found_row.largest, 3 * found_row.of_reference));
    }
}

}  // namespace toto2_fixture
