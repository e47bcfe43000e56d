// SPDX-License-Identifier: Apache-2.0
// expect: a_tensor_is_used_that_was_never_recorded
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
        Tensor bias;
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        bias = r.weight("bias", {4});
#endif
        r.store(r.state("y", {4}), r.state("x", {4}) + bias);
    }
};

static_assert(Program<Model>::steps.size() > 0);
