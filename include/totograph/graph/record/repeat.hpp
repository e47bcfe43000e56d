// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/record/layer_index.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

/// `repeat` below with several tensors that each iteration hands to the next one. One that is made of weights alone, as
/// a factor that grows from layer to layer, is computed before the first run.
///
///     const auto [y, factor] = repeat(count, std::array{x, one}, [&](std::array<Tensor, 2> given, LayerIndex layer) {
///         ...
///         return std::array{next, next_factor};
///     });
template <std::size_t size, class Body>
constexpr std::array<Tensor, size> repeat(int count, std::array<Tensor, size> carried, const Body& body) {
    Recorder& recorder = carried[0].recorder();
    const int recorded = recorder.begin_loop(count);
    for (int number = 0; number < recorded; ++number) {
        const std::array<Tensor, size> results = body(carried, recorder.begin_iteration(number, carried));
        bool same = true;
        for (std::size_t i = 0; i < size && same; ++i) {
            const Tensor x = carried[i];
            const Tensor result = results[i];
            same = result.shape() == x.shape() && result.dtype() == x.dtype();
            if (!same) {
                recorder.fail(ModelErrorKind::loop_changes_its_tensor)
                    << "repeat: the body is given " << name(x.dtype()) << " " << x.shape() << " and returns "
                    << name(result.dtype()) << " " << result.shape();
            }
        }
        if (!same) {
            break;
        }
        carried = results;
    }
    recorder.end_loop(carried);
    return carried;
}

/// A loop over equal layers: `x = body(x, layer)`, `count` times, with `layer` from 0 on.
///
///     x = repeat(config.num_layers, x, [&](Tensor x, LayerIndex layer) {
///         return Layer(r, "layers.{}"_name, layer).record(x);
///     });
///
/// It computes what a `for` over the layers does, and costs the compiler what a few of them do: a program has the steps
/// of one iteration once, with a count. For that `body` is called for a few iterations, so it must record the same for
/// each. It tells weights and states of its layer by `layer`; it uses tensors from before the loop and `x`, and nothing
/// that an earlier iteration has recorded; and what it records ends with it, but for its result, which has the shape
/// and the dtype of `x`. Of a loop in the body of another one, and of more than `Loops::most` loops, all iterations are
/// written out; so are those of a loop of up to four, of one whose iterations turn out
/// to differ, and of one before which a step writes a state that is declared behind it. (Where a layer adds to its
/// input once, the sum cannot lie where the input does: two iterations are one then, of a loop of ten or more.)
template <class Body>
constexpr Tensor repeat(int count, Tensor x, const Body& body) {
    const auto of_one = [&](const std::array<Tensor, 1>& one, LayerIndex layer) {
        return std::array<Tensor, 1>{body(one[0], layer)};
    };
    return repeat(count, std::array<Tensor, 1>{x}, of_one)[0];
}

}  // namespace totograph
