// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/models/toto1/config.hpp>

#include "models/toto1/closeness.hpp"
#include "support/stored_tensors.hpp"

// Parity cases written by the public reference implementation: `tests/data/README.md` tells what each file holds.

namespace fixture {

namespace tg = totograph;
using tg::Index;

/// The configuration that most cases share.
inline constexpr tg::toto1::Toto1Config small_config{.patch_size = 8,
                                                     .embed_dim = 32,
                                                     .num_layers = 4,
                                                     .num_heads = 4,
                                                     .mlp_hidden_dim = 64,
                                                     .spacewise_every_n_layers = 2,
                                                     .k_components = 3};

inline std::filesystem::path folder(const std::string& name) {
    return std::filesystem::path(TOTOGRAPH_TEST_DATA) / "toto1" / name;
}

/// The tensors of a case.
class Tensors : public tg::test::StoredTensors {
public:
    explicit Tensors(const std::string& name) : tg::test::StoredTensors(folder(name) / "io.safetensors") {}

    /// Values of a row: the extent of the last axis.
    [[nodiscard]] std::size_t width(const std::string& name) const {
        return static_cast<std::size_t>(shape(name).back());
    }

    /// Patches of the forecast, each with a step of the trace.
    [[nodiscard]] std::size_t steps() const { return static_cast<std::size_t>(shape("trace_affine_loc")[0]); }

    /// What the first forecast patch of each variate is shifted by, `[batch, variates]`.
    [[nodiscard]] std::vector<float> levels() const {
        const std::vector<float> shifts = (*this)["trace_affine_loc"];
        const auto& extents = shape("trace_affine_loc");  // [steps, batch, variates, patch_size]
        const auto rows = static_cast<std::size_t>(extents[1] * extents[2]);
        std::vector<float> result;
        for (std::size_t row = 0; row < rows; ++row) {
            result.push_back(shifts[row * static_cast<std::size_t>(extents[3])]);
        }
        return result;
    }
};

/// A case: which model, and which sizes.
template <class ModelType, tg::Bucket sizes>
struct Case {
    using Model = ModelType;
    static constexpr tg::Bucket bucket = sizes;
    std::string name;
};

/// The inputs of a case as a series; owns what the series views.
struct Inputs {
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    std::vector<std::int32_t> groups;
    std::vector<float> future;
    tg::Series series;

    Inputs(const Tensors& tensors, const tg::Bucket& bucket) : values(tensors["series"]) {
        for (const float mask : tensors["padding_mask"]) {
            observed.push_back(mask != 0.0F ? 1 : 0);
        }
        for (const float id : tensors["id_mask"]) {
            groups.push_back(static_cast<std::int32_t>(id));
        }
        if (tensors.contains("future_exogenous")) {
            future = tensors["future_exogenous"];
        }
        series.batch = bucket.batch;
        series.variates = bucket.variates;
        series.steps = bucket.context;
        series.values = values;
        series.observed = observed;
        series.groups = groups;
        series.exogenous = bucket.exogenous;
        series.future_exogenous = future;
    }
};

/// Repeats each value `count` times: a statistic of a patch for each of its steps.
inline std::vector<float> repeat(const std::vector<float>& values, std::size_t size) {
    std::vector<float> result;
    for (const float value : values) {
        result.insert(result.end(), size / values.size(), value);
    }
    return result;
}

}  // namespace fixture
