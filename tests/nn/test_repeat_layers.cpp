// SPDX-License-Identifier: Apache-2.0
// Layers whose kinds take turns, as loops: they must be those that a `for` over them records.
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/repeat_layers.hpp>

using namespace totograph;

namespace {

/// What a model of so many layers reads: a weight for each, named by its kind.
struct Read {
    std::string_view kind;
    int layer;
    friend bool operator==(const Read&, const Read&) = default;
};

constexpr std::array<std::string_view, 2> names{"even.{}", "odd.{}"};

/// As recorded by `repeat_layers`, of groups whose places have these kinds.
std::vector<Read> recorded(int count, std::span<const int> kinds) {
    Recorder r;
    const Tensor x = r.state("x", {4});
    const Tensor y = nn::repeat_layers(
        count, static_cast<int>(kinds.size()), x, [&](int place) { return kinds[static_cast<std::size_t>(place)]; },
        [&](Tensor given, int kind, LayerIndex layer) {
            return given * r.weight(names[static_cast<std::size_t>(kind)], {4}, layer);
        });
    r.store(r.state("y", {4}), y);
    CHECK(r.graph().error.kind == ModelErrorKind::none);
    std::vector<Read> result;
    for (const Node& node : r.graph().nodes) {
        if (node.op == Op::weight) {
            result.push_back({node.name, node.layer});
        }
    }
    return result;
}

}  // namespace

TEST_CASE("layers are recorded in order, each with its kind") {
    const std::array<int, 3> two_and_one{0, 0, 1};
    const std::array<int, 4> in_turns{1, 0, 1, 0};
    const std::array<int, 1> equal{1};
    const auto check = [](std::span<const int> kinds) {
        for (const int count : {0, 1, 2, 3, 4, 7, 12, 15}) {
            CAPTURE(count);
            std::vector<Read> expected;
            for (int layer = 0; layer < count; ++layer) {
                const int kind = kinds[static_cast<std::size_t>(layer) % kinds.size()];
                expected.push_back({names[static_cast<std::size_t>(kind)], layer});
            }
            CHECK(recorded(count, kinds) == expected);
        }
    };
    check(two_and_one);
    check(in_turns);
    check(equal);
}

TEST_CASE("groups of no layers, and fewer layers than none, are a mistake") {
    const auto mistake_of = [](int count, int period) {
        Recorder r;
        const std::array<Tensor, 1> x{r.state("x", {4})};
        (void)nn::repeat_layers(
            count, period, x, [](int place) { return place; },
            [](const std::array<Tensor, 1>& given, int /*kind*/, LayerIndex /*layer*/) { return given; });
        return r.graph().error;
    };
    CHECK(mistake_of(4, 0).kind == ModelErrorKind::loop_is_empty);
    CHECK(mistake_of(-4, 2).kind == ModelErrorKind::loop_is_empty);
    CHECK(mistake_of(4, 0).message() == "repeat_layers: 4 layers in groups of 0");
}
