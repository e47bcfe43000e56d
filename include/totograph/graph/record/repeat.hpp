// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/record/layer_index.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

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
/// and the dtype of `x`. Of a loop in the body of another one, and of a second loop of a program, all iterations are
/// written out; so are those of a loop of up to four, of one whose iterations turn out to differ, and of one before
/// which a step writes a state that is declared behind it. (Where a layer adds to its input once, the sum cannot lie
/// where the input does: two iterations are one then, of a loop of ten or more.)
template <class Body>
constexpr Tensor repeat(int count, Tensor x, const Body& body) {
    Recorder& recorder = x.recorder();
    const int recorded = recorder.begin_loop(count);
    for (int number = 0; number < recorded; ++number) {
        const Tensor result = body(x, recorder.begin_iteration(number, x));
        if (!(result.shape() == x.shape()) || result.dtype() != x.dtype()) {
            recorder.fail(ModelErrorKind::loop_changes_its_tensor)
                << "repeat: the body is given " << name(x.dtype()) << " " << x.shape() << " and returns "
                << name(result.dtype()) << " " << result.shape();
            break;
        }
        x = result;
    }
    recorder.end_loop(x);
    return x;
}

}  // namespace totograph
