// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Whether a model says that its programs write what they compute on the way to states
/// (`static constexpr bool keeps_intermediates`), for tests.
template <class Model>
inline constexpr bool keeps_intermediates = [] {
    if constexpr (requires { Model::keeps_intermediates; }) {
        return bool{Model::keeps_intermediates};
    } else {
        return false;
    }
}();

/// A base of what a model's programs are composed of, which gives them taps: where `enabled`, what is tapped is written
/// to a state of its own (`Recorder::tap`), for inspection; else nothing is recorded.
template <bool enabled>
struct Taps {
    static constexpr bool is_inspected = enabled;

    static constexpr void tap(std::string_view name, Tensor x, LayerIndex layer = {}) {
        if constexpr (enabled) {
            x.recorder().tap(name, x, layer);
        }
    }
};

}  // namespace totograph::nn
