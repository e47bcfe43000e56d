// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

#include "cuda/ops/ops_states.hpp"
#include "support/outputs.hpp"

// What models of GEMMs and attentions are made of.

namespace ops {

using tg::test::Outputs;

/// A layer with weights of its own.
constexpr Tensor layer(Tensor x, Index columns) {
    Recorder& r = x.recorder();
    const int number = r.graph().size();
    return linear(x, r.weight("w{}", {columns, x.extent(-1)}, number), r.weight("b{}", {columns}, number));
}

constexpr Tensor norm(Tensor x) {
    return x * rsqrt(mean(x * x) + 1e-5) * x.recorder().weight("scale", {x.extent(-1)});
}

}  // namespace ops
