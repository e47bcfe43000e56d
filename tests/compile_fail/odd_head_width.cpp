// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a rotary embedding rotates pairs, so its width must be even.
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/rotary.hpp>

using namespace totograph;

struct Model {
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor positions = reshape(r.iota(5), {1, 1, 1, 5, 1, 1});
        const auto tables = nn::rotary_tables(positions, r.constant(2), 8);
        r.tap("cosine", tables.query_cosine);
#else
        const Tensor positions = reshape(r.iota(5), {1, 1, 1, 5, 1, 1});
        const auto tables = nn::rotary_tables(positions, r.constant(2), 7);
        r.tap("cosine", tables.query_cosine);
#endif
    }
};

static_assert(Program<Model>::steps.size() > 0);
