// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>

namespace totograph::toto1 {

namespace detail {

/// The first `count` layers of a group, which begins with the layer `first`.
template <class Record>
constexpr Tensor record_group(const Toto1Config& config, Tensor x, LayerIndex first, int count, const Record& record) {
    int place = 0;
    while (place < count) {
        const LayerKind kind = config.layer_kind(place);
        int end = place + 1;
        while (end < count && config.layer_kind(end) == kind) {
            ++end;
        }
        x = repeat(end - place, x,
                   [&](Tensor input, LayerIndex number) { return record(input, kind, first + place + number); });
        place = end;
    }
    return x;
}

}  // namespace detail

/// Runs the first `count` layers of a model: `x = record(x, kind, layer)` for each, as loops over those that are alike.
template <class Record>
constexpr Tensor record_layers(const Toto1Config& config, int count, Tensor x, const Record& record) {
    const int period = config.spacewise_every_n_layers < 1 ? count : config.spacewise_every_n_layers;
    const int groups = count == 0 ? 0 : count / period;
    if (groups > 0) {
        x = repeat(groups, x, [&](Tensor input, LayerIndex group) {
            return detail::record_group(config, input, group * period, period, record);
        });
    }
    return count == 0 ? x : detail::record_group(config, x, groups * period, count % period, record);
}

}  // namespace totograph::toto1
