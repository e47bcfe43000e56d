// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the name of a weight of a layer has `{}` where the number of the layer goes, and that of no layer
// expect of g++: its layer has no place in the name
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        const Tensor y = repeat(6, r.state("x", {4}), [&](Tensor x, LayerIndex layer) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
            return x * r.weight("layers.{}.scale", {4}, layer);
#else
            return x * r.weight("layers.scale", {4}, layer);
#endif
        });
        r.store(r.state("y", {4}), y);
    }
};

static_assert(Program<Model>::steps.size() > 0);
