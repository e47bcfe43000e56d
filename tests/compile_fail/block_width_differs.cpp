// SPDX-License-Identifier: Apache-2.0
// expect: totograph: the last axis of a tensor is not as wide as the block takes it that was given it.
// expect of g++: SwiGlu<SwiGluSize{8, 24, true}>: it takes rows of 8, found x of shape [4, 6]
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/feed_forward.hpp>

using namespace totograph;

#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
inline constexpr Index found = 8;
#else
inline constexpr Index found = 6;
#endif

struct Model {
    static constexpr void record(Recorder& r) {
        using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = 8, .hidden = 24}>;
        const FeedForward feed_forward{.gate = {.projection = {r, "in"_name}}, .down = {r, "out"_name}};
        r.store(r.state("y", {4, found}), feed_forward.record(r.state("x", {4, found})));
    }
};

static_assert(Program<Model>::steps.size() > 0);
