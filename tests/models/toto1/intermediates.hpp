// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <totograph/forecast/bucket.hpp>
#include <totograph/models/toto1/config.hpp>

#include "models/toto1/closeness.hpp"
#include "models/toto1/fixture_data.hpp"

// What programs that keep their intermediates must have kept. `state(name, layer)` gives the content of a state.

namespace fixture {

/// The parameters of the head, under the reference's names.
inline std::vector<std::string> head_parameters(const tg::toto1::Toto1Config& config) {
    std::vector<std::string> names{"df", "loc", "scale"};
    if (config.head == tg::toto1::Head::mixture_of_student_t) {
        names.emplace_back("probs");
    }
    return names;
}

/// After the prefill: every tensor of the context. What the scalers compute is f32 or wider in every precision.
template <class State>
void check_context(const Tensors& tensors, const tg::toto1::Toto1Config& config, const Bounds& bounds, State&& state) {
    const auto check = [&](const std::string& name, const std::vector<float>& found, const Bounds& bound) {
        const bool is_location = name == "head_loc";
        check_rows(name, found, tensors[name], tensors.width(name), bound.tensor,
                   is_location ? bound.row_of_head_locations : bound.row);
    };
    const std::size_t size = tensors["scaled"].size();
    check("scaled", state("tap.scaled", -1), Bounds{});
    check("loc", repeat(state("tap.context_loc", -1), size), Bounds{});
    check("scale", repeat(state("tap.context_scale", -1), size), Bounds{});
    check("patch_embeddings", state("tap.patch_embeddings", -1), bounds);
    for (int layer = 0; layer < config.num_layers; ++layer) {
        check("layer_0" + std::to_string(layer), state("tap.layer", layer), bounds);
    }
    for (const std::string& parameter : head_parameters(config)) {
        check("head_" + parameter, state("tap.head_" + parameter, -1), bounds);
    }
}

/// After a patch of the teacher-forced decode: the distribution that it is drawn from, patch `step` of `steps`.
template <class State>
void check_step(const Tensors& tensors, const tg::toto1::Toto1Config& config, std::size_t step, std::size_t steps,
                const Bounds& bounds, State&& state) {
    const auto check = [&](const std::string& name, double row_bound) {
        const std::vector<float> all = tensors["trace_" + name];
        const std::size_t size = all.size() / steps;
        const auto found = state("tap." + name, -1);
        check_rows("trace_" + name + " at step " + std::to_string(step),
                   found.size() == size ? found : repeat(found, size), Values(all).subspan(step * size, size),
                   tensors.width("trace_" + name), bounds.tensor, row_bound);
    };
    for (const std::string& parameter : head_parameters(config)) {
        check(parameter, parameter == "loc" ? bounds.row_of_head_locations : bounds.row);
    }
    for (const char* const name : {"affine_loc", "affine_scale", "mean", "variance"}) {
        check(name, bounds.row);
    }
}

/// The forecast so far as the next step of the teacher-forced decode reads it: patch `step - 1` is the given one.
inline void give_patch(const Tensors& tensors, std::size_t step, std::size_t steps, std::size_t patch,
                       std::span<float> forecast) {
    const std::vector<float> future = tensors["future"];
    for (std::size_t from = (step - 1) * patch; from < forecast.size(); from += steps * patch) {
        std::copy_n(future.data() + from, patch, forecast.data() + from);
    }
}

/// Every intermediate tensor of the prefill, and the teacher-forced decode, of two programs that keep them and whose
/// inputs are filled: `run(program)` runs one of them, `write_forecast(values)` replaces the forecast so far.
template <class Run, class State, class WriteForecast>
void check_programs(const Tensors& tensors, const tg::toto1::Toto1Config& config, Run&& run, State&& state,
                    WriteForecast&& write_forecast) {
    run(0);
    check_context(tensors, config, Bounds{}, state);

    // Teacher-forced: step i has seen the context and i given patches.
    const auto patch = static_cast<std::size_t>(config.patch_size);
    const std::size_t steps = tensors.steps();
    for (std::size_t step = 0; step < steps; ++step) {
        if (step > 0) {
            std::vector<float> forecast = state("forecast", -1);
            give_patch(tensors, step, steps, patch, forecast);
            write_forecast(forecast);
            run(1);
        }
        check_step(tensors, config, step, steps, Bounds{}, state);
    }
}

/// A mean forecast by a program with a cache or without one, each against the reference in the same mode.
inline void check_mean_values(const Tensors& tensors, const tg::Bucket& bucket, bool has_cache, const Bounds& bounds,
                              const std::vector<float>& found) {
    const std::string name = has_cache ? "mean_kv" : "mean_nokv";
    const auto horizon = static_cast<std::size_t>(bucket.horizon);
    const auto expected = tensors[name];
    check_rows(name, found, expected, horizon, bounds.tensor, bounds.row);
    check_error(name + " beyond its level", signal_error(found, expected, tensors.levels(), horizon), bounds.row);
}

}  // namespace fixture
