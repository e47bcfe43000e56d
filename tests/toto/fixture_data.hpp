// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/bucket.hpp>
#include <totograph/core/series.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/safetensors.hpp>
#include <totograph/toto/config.hpp>

// Parity cases written by the public reference implementation: `tests/data/README.md` tells what each file holds.

namespace fixture {

namespace tg = totograph;
using tg::Index;

/// The configuration that most cases share.
inline constexpr tg::toto::Toto1Config small_config{.patch_size = 8,
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
class Tensors {
public:
    explicit Tensors(const std::string& name) : file_(folder(name) / "io.safetensors") {}

    [[nodiscard]] bool contains(const std::string& name) const { return file_.find(name) != nullptr; }

    [[nodiscard]] std::vector<float> operator[](const std::string& name) const {
        const auto* info = file_.find(name);
        REQUIRE_MESSAGE(info != nullptr, "no tensor " << name);
        Index size = 1;
        for (const Index extent : info->shape) {
            size *= extent;
        }
        std::vector<float> values(static_cast<std::size_t>(size));
        file_.copy_to_float(*info, values);
        return values;
    }

private:
    tg::io::SafetensorsFile file_;
};

/// The largest difference, relative to the largest magnitude of the reference.
inline double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
    REQUIRE(found.size() == expected.size());
    double largest = 0;
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (std::isnan(found[i]) != std::isnan(expected[i])) {
            return INFINITY;
        }
        if (found[i] == expected[i] || std::isnan(found[i])) {  // equal infinities, too
            continue;
        }
        worst = std::max(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
        largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    }
    for (const float value : expected) {
        if (std::isfinite(value)) {
            largest = std::max(largest, std::abs(static_cast<double>(value)));
        }
    }
    return worst == 0 ? 0 : worst / largest;
}

inline void check_close(const std::string& what, const std::vector<float>& found, const std::vector<float>& expected,
                        double bound) {
    const double error = relative_error(found, expected);
    CHECK_MESSAGE(error <= bound, what << ": relative error " << error << ", bound " << bound);
}

/// A case: which model, which sizes, and how close to come.
template <class ModelType, tg::Bucket sizes>
struct Case {
    using Model = ModelType;
    static constexpr tg::Bucket bucket = sizes;
    std::string name;
    /// Relative to each tensor's largest magnitude. Both sides round at every operation in f32, in another order.
    double bound = 1e-5;
    /// For means of cases that amplify rounding: so many times the reference's own f32-to-f64 error; 0: use `bound`.
    double of_reference_error = 0;
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

inline double mean_bound(const Tensors& tensors, double bound, double of_reference_error) {
    if (of_reference_error == 0) {
        return bound;
    }
    return of_reference_error * relative_error(tensors["mean_kv"], tensors["mean_kv_f64"]);
}

}  // namespace fixture
