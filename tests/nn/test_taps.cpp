// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/taps.hpp>

namespace tg = totograph;

namespace {

struct Published {};
struct Inspected {
    static constexpr bool keeps_intermediates = true;
};
struct Refusing {
    static constexpr bool keeps_intermediates = false;
};

template <class Model>
struct Parts : tg::nn::Taps<tg::nn::keeps_intermediates<Model>> {};

/// y = 2 x, of which 2 x is tapped.
template <class Model>
struct Doubled {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor twice = r.state("x", {4}) * 2.0;
        Parts<Model>::tap("tap.twice", twice);
        r.store(r.state("y", {4}), twice);
    }
};

template <class Model>
constexpr bool has_tap() {
    const tg::Graph graph = tg::record<Doubled<Model>>();
    for (const tg::Node& node : graph.nodes) {
        if (node.op == tg::Op::state && node.name == "tap.twice") {
            return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("what is tapped is a state of its own where a model keeps intermediates, and costs nothing elsewhere") {
    CHECK(has_tap<Inspected>());
    CHECK(!has_tap<Published>());
    CHECK(!has_tap<Refusing>());
    CHECK(tg::record<Doubled<Published>>().size() == tg::record<Doubled<Inspected>>().size() - 2);
    CHECK(Parts<Inspected>::is_inspected);
    CHECK(!Parts<Published>::is_inspected);
}
