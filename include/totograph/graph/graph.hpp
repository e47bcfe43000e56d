// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <totograph/core/array.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/record/model_error.hpp>

namespace totograph {

/// Whether two constants are one: 0 and -0 are two.
constexpr bool is_same_number(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The most inputs that one node can have.
inline constexpr int max_inputs = 9;

/// What a state is for, where somebody counts it.
enum class StateUse : std::uint8_t {
    any,
    kv_cache,  ///< Keys or values of earlier positions.
    bounds,    ///< i32: how much of each bounded axis is in use (`AxisBounds`).
};

/// One operation of a graph. A plain value: every field is known when the graph is recorded.
struct Node {
    Op op = Op::constant;
    DType dtype = DType::f32;
    Shape shape;
    Array<int, max_inputs> inputs{};
    int input_count = 0;
    /// `slice`: axis, begin, step. `permute`: source axes. `concatenate`, `take`: axis. `store`: axis, begin.
    Array<Index, max_rank> attributes{};
    AttentionDescription attention;  ///< Of an `attention`.
    double immediate = 0;            ///< The value of a `constant`.
    /// The name of a weight or state. In a weight's name `{}` stands for `layer`.
    std::string_view name;
    int layer = -1;
    int layer_step = 0;  ///< From each iteration of a `ShortLoop` to the next one.
    int loop = 0;        ///< Which of those, from 1 on, where there is such a step: layers of others are other layers.
    int iteration = -1;  ///< The iteration of a `ShortLoop` that recorded the node; no part of what it computes.
    StateUse use = StateUse::any;  ///< Of a `state`.
    AxisBounds bounds{};           ///< What the model declares.
    const CustomOperation* custom = nullptr;

    /// Whether two nodes are one but for their inputs and their layer.
    friend constexpr bool is_alike(const Node& a, const Node& b) {
        return a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && a.input_count == b.input_count &&
               a.attributes == b.attributes && is_same_number(a.immediate, b.immediate) &&
               a.layer_step == b.layer_step && a.loop == b.loop && same_operation(a.op, a.custom, b.custom) &&
               a.attention == b.attention && a.name == b.name && a.use == b.use && a.bounds == b.bounds;
    }
    friend constexpr bool operator==(const Node& a, const Node& b) {
        return a.op == b.op && a.inputs == b.inputs && a.layer == b.layer && is_alike(a, b);
    }
};

/// A loop of which the first iterations were recorded, and stand for all.
struct ShortLoop {
    int count = 0;  ///< Of all iterations.
    int recorded = 0;
    int begin = 0;   ///< What `Node::iteration` is of its first iteration; loops count on from each other.
    int number = 0;  ///< Of the loop among those of `LoopChoices`.
};

/// A recorded model: nodes in the order in which they were recorded, which is a valid order to run them in. Each
/// `store` is an effect, and effects keep their order.
struct Graph {
    /// In the order of recording.
    List<Node> nodes;
    /// The first mistake, or none.
    ModelError error;
    /// The loops of which not all iterations were recorded, in order; none contains another one.
    List<ShortLoop> loops;

    [[nodiscard]] constexpr int size() const { return static_cast<int>(nodes.size()); }
    [[nodiscard]] constexpr Node& operator[](int id) { return nodes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] constexpr const Node& operator[](int id) const { return nodes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] constexpr const Node& input(const Node& node, int which) const {
        return (*this)[node.inputs.items[which]];
    }
};

/// For each node, whether it depends on weights and constants alone, so that it can be computed once before the first
/// run.
template <class AnyGraph>
constexpr List<char> find_weight_expressions(const AnyGraph& graph) {
    const int count = graph.size();
    const Node* const nodes = graph.nodes.data();
    List<char> result(static_cast<std::size_t>(count), 0);
    char* const known = result.data();
    for (int id = 0; id < count; ++id) {
        const Node& node = nodes[id];
        bool all = is_pure(node.op);
        for (int i = 0; i < node.input_count; ++i) {
            all = all && known[node.inputs.items[i]] != 0;
        }
        known[id] = all ? 1 : 0;
    }
    return result;
}

/// The nodes of a graph that lives elsewhere, such as in a `Program`.
struct GraphView {
    std::span<const Node> nodes;

    [[nodiscard]] constexpr int size() const { return static_cast<int>(nodes.size()); }
    [[nodiscard]] constexpr const Node& operator[](int id) const { return nodes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] constexpr const Node& input(const Node& node, int which) const {
        return (*this)[node.inputs.items[which]];
    }
};

}  // namespace totograph
