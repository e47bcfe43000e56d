// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/totograph.hpp>

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

/// The content of a state.
template <class Forecaster>
std::vector<float> state(Forecaster& forecaster, const char* name, int layer = -1) {
    const auto* entry = Forecaster::Executor::Layout::find(name, layer);
    REQUIRE_MESSAGE(entry != nullptr, "no state " << name);
    const auto* values = static_cast<const float*>(forecaster.executor().state(name, layer));
    return {values, values + entry->slot.shape.size()};
}

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

/// Every intermediate tensor of the prefill, and the teacher-forced decode.
template <tg::ExecutorKind executor, class CaseType>
void check_intermediates(const CaseType& test) {
    constexpr tg::ForecasterOptions options{.executor = executor,
                                            .rewrites = {.last_patch_only = false, .keep_intermediates = true}};
    using Forecaster = tg::Forecaster<typename CaseType::Model, CaseType::bucket, options>;
    constexpr tg::toto::Toto1Config config = CaseType::Model::config;
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    Forecaster forecaster(tg::toto::load<typename CaseType::Model>(folder(test.name)));
    forecaster.fill(inputs.series, CaseType::bucket, 0);
    forecaster.executor().template run<0>();

    const auto scaled = tensors["scaled"];
    check_close("scaled", state(forecaster, "tap.scaled"), scaled, test.bound);
    check_close("loc", repeat(state(forecaster, "tap.context_loc"), scaled.size()), tensors["loc"], test.bound);
    check_close("scale", repeat(state(forecaster, "tap.context_scale"), scaled.size()), tensors["scale"], test.bound);
    check_close("patch_embeddings", state(forecaster, "tap.patch_embeddings"), tensors["patch_embeddings"], test.bound);
    for (int layer = 0; layer < config.num_layers; ++layer) {
        const std::string name = std::string("layer_0") + std::to_string(layer);
        check_close(name, state(forecaster, "tap.layer", layer), tensors[name], test.bound);
    }
    const bool is_mixture = config.head == tg::toto::Head::mixture_of_student_t;
    check_close("head_df", state(forecaster, "tap.head_df"), tensors["head_df"], test.bound);
    check_close("head_loc", state(forecaster, "tap.head_loc"), tensors["head_loc"], test.bound);
    check_close("head_scale", state(forecaster, "tap.head_scale"), tensors["head_scale"], test.bound);
    if (is_mixture) {
        check_close("head_probs", state(forecaster, "tap.head_probs"), tensors["head_probs"], test.bound);
    }

    // Teacher-forced: step i has seen the context and i given patches.
    const auto future = tensors["future"];
    const auto patch = static_cast<std::size_t>(config.patch_size);
    const auto steps = static_cast<std::size_t>(Forecaster::sizes.steps);
    const auto rows = static_cast<std::size_t>(CaseType::bucket.batch * CaseType::bucket.variates);
    for (std::size_t step = 0; step < steps; ++step) {
        if (step > 0) {
            auto* forecast = static_cast<float*>(forecaster.executor().state("forecast"));
            for (std::size_t row = 0; row < rows; ++row) {
                std::copy_n(future.begin() + static_cast<std::ptrdiff_t>((row * steps + step - 1) * patch), patch,
                            forecast + (row * steps + step - 1) * patch);
            }
            forecaster.executor().template run<1>();
        }
        const auto expect = [&](const char* tap, const char* name) {
            const auto all = tensors[name];
            const std::size_t size = all.size() / steps;
            const std::vector<float> expected(all.begin() + static_cast<std::ptrdiff_t>(step * size),
                                              all.begin() + static_cast<std::ptrdiff_t>((step + 1) * size));
            auto found = state(forecaster, tap);
            check_close(std::string(name) + " at step " + std::to_string(step),
                        found.size() == size ? found : repeat(found, size), expected, test.bound);
        };
        expect("tap.df", "trace_df");
        expect("tap.loc", "trace_loc");
        expect("tap.scale", "trace_scale");
        if (is_mixture) {
            expect("tap.probs", "trace_probs");
        }
        expect("tap.affine_loc", "trace_affine_loc");
        expect("tap.affine_scale", "trace_affine_scale");
        expect("tap.mean", "trace_mean");
        expect("tap.variance", "trace_variance");
    }
}

/// The mean forecast against the reference in the same mode.
template <tg::ForecasterOptions options, class CaseType>
void check_mean(const CaseType& test) {
    const Tensors tensors(test.name);
    const Inputs inputs(tensors, CaseType::bucket);
    const auto weights = tg::toto::load<typename CaseType::Model>(folder(test.name));
    tg::Forecaster<typename CaseType::Model, CaseType::bucket, options> forecaster(weights);
    const tg::Forecast forecast = forecaster.forecast(inputs.series);
    const char* name = options.rewrites.kv_cache ? "mean_kv" : "mean_nokv";
    check_close(name, forecast.mean(), tensors[name], mean_bound(tensors, test.bound, test.of_reference_error));
}

template <class CaseType>
void check_eager(const CaseType& test) {
    SUBCASE("intermediates") {
        check_intermediates<tg::ExecutorKind::eager>(test);
    }
    SUBCASE("mean") {
        check_mean<tg::ForecasterOptions{.executor = tg::ExecutorKind::eager}>(test);
    }
    SUBCASE("mean without a cache") {
        check_mean<tg::ForecasterOptions{.executor = tg::ExecutorKind::eager, .rewrites = {.kv_cache = false}}>(test);
    }
}

template <class CaseType>
void check_fused(const CaseType& test) {
    SUBCASE("intermediates") {
        check_intermediates<tg::ExecutorKind::fused>(test);
    }
    SUBCASE("mean") {
        check_mean<tg::ForecasterOptions{}>(test);
    }
    SUBCASE("mean without a cache") {
        check_mean<tg::ForecasterOptions{.rewrites = {.kv_cache = false}}>(test);
    }
}

}  // namespace fixture
