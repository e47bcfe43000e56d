// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

namespace detail {

/// Who recorded what layers hand on: a tensor, or an array of those.
constexpr Recorder& recorder_of(Tensor carried) {
    return carried.recorder();
}
template <std::size_t size>
constexpr Recorder& recorder_of(const std::array<Tensor, size>& carried) {
    return carried[0].recorder();
}

/// The first `count` layers of a group, which begins with the layer `first`.
template <class Carried, class KindOf, class Record>
constexpr Carried repeat_group(int count, Carried x, LayerIndex first, const KindOf& kind_of, const Record& record) {
    int place = 0;
    while (place < count) {
        const auto kind = kind_of(place);
        int end = place + 1;
        while (end < count && kind_of(end) == kind) {
            ++end;
        }
        x = repeat(end - place, x, [&](const Carried& given, LayerIndex number) {
            return record(given, kind, first + place + number);
        });
        place = end;
    }
    return x;
}

}  // namespace detail

/// Runs the first `count` layers of a model whose kinds of layers take turns, with groups of `period` layers:
/// `x = record(x, kind_of(place in its group), layer)` for each, as loops over those that are alike. `x` is what
/// `repeat` takes: a tensor, or an array of those.
template <class Carried, class KindOf, class Record>
constexpr Carried repeat_layers(int count, int period, Carried x, const KindOf& kind_of, const Record& record) {
    if (count < 0 || period < 1) {
        detail::recorder_of(x).fail(ModelErrorKind::loop_is_empty)
            << "repeat_layers: " << Index{count} << " layers in groups of " << Index{period};
        return x;
    }
    const int groups = count / period;
    if (groups > 0) {
        x = repeat(groups, x, [&](const Carried& given, LayerIndex group) {
            return detail::repeat_group(period, given, group * period, kind_of, record);
        });
    }
    return detail::repeat_group(count % period, x, groups * period, kind_of, record);
}

}  // namespace totograph::nn
