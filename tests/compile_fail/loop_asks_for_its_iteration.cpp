// SPDX-License-Identifier: Apache-2.0
// expect: LayerIndex
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        const Tensor y = repeat(6, r.state("x", {4, 4}), [](Tensor x, LayerIndex layer) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
            return x + x.recorder().weight("layers.{}.bias", {4}, layer);
#else
            return layer > 2 ? x + 1.0 : x;
#endif
        });
        r.store(r.state("y", {4, 4}), y);
    }
};

static_assert(Program<Model>::steps.size() > 0);
