// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/nn/repeat_layers.hpp>

namespace totograph::toto1 {

/// Runs the first `count` layers of a model: `x = record(x, kind, layer)` for each, as loops over those that are alike.
template <class Record>
constexpr Tensor record_layers(const Toto1Config& config, int count, Tensor x, const Record& record) {
    const int period = config.spacewise_every_n_layers < 1 ? std::max(count, 1) : config.spacewise_every_n_layers;
    return nn::repeat_layers(
        count, period, x, [&](int layer) { return config.layer_kind(layer); }, record);
}

}  // namespace totograph::toto1
