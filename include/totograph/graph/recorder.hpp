// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/custom.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/model_error.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {

class Recorder;

/// A handle on a recorded node. It is what model code computes with; it holds no data.
class Tensor {
public:
    constexpr Tensor() = default;
    constexpr Tensor(Recorder* recorder, int id) : recorder_(recorder), id_(id) {}

    [[nodiscard]] constexpr Recorder& recorder() const { return *recorder_; }
    [[nodiscard]] constexpr int id() const { return id_; }
    [[nodiscard]] constexpr const Node& node() const;
    [[nodiscard]] constexpr const Shape& shape() const { return node().shape; }
    [[nodiscard]] constexpr DType dtype() const { return node().dtype; }
    /// The extent of an axis; negative axes count from the end.
    [[nodiscard]] constexpr Index extent(int axis) const { return shape()[axis]; }

private:
    Recorder* recorder_ = nullptr;
    int id_ = -1;
};

/// Records what model code does, as a graph. After the first mistake it keeps that mistake and goes on with harmless
/// tensors, so that one error is reported, and it is the first.
class Recorder {
public:
    constexpr Recorder() { graph_.nodes.reserve(2048); }

    /// A tensor of the checkpoint. In `name`, `{}` stands for `layer`.
    constexpr Tensor weight(std::string_view name, const Shape& shape, int layer = -1) {
        Node node = leaf(Op::weight, DType::f32, shape);
        node.name = name;
        node.layer = layer;
        return add(node);
    }

    /// A scalar.
    constexpr Tensor constant(double value, DType dtype = DType::f32) {
        Node node = leaf(Op::constant, dtype, Shape{});
        node.immediate = value;
        return add(node);
    }

    /// 0, 1, ..., count - 1.
    constexpr Tensor iota(Index count, DType dtype = DType::f32) { return add(leaf(Op::iota, dtype, Shape{count})); }

    /// A buffer that outlives a run, by name. Two programs that name the same state share it. Declaring it again gives
    /// the same state.
    /// A state that each layer has its own of takes the layer's number beside its name.
    constexpr Tensor state(std::string_view name, const Shape& shape, DType dtype = DType::f32, int layer = -1) {
        for (const int id : states_) {
            if (graph_[id].layer == layer && graph_[id].name == name) {
                if (!(graph_[id].shape == shape) || graph_[id].dtype != dtype) {
                    fail(ModelErrorKind::state_declared_twice)
                        << "state '" << name << "': declared as " << graph_[id].shape << ", then as " << shape;
                }
                return {this, id};
            }
        }
        Node node = leaf(Op::state, dtype, shape);
        node.name = name;
        node.layer = layer;
        states_.push_back(graph_.size());
        return add(node);
    }

    /// Writes `value` into a state along `axis`, from index `begin`; all other axes must agree (extents of 1 repeat).
    constexpr void store(Tensor state, Tensor value, int axis = 0, Index begin = 0) {
        Node node = effect(state, value, axis);
        node.attributes[1] = begin;
        if (begin + value.extent(axis_of(value, axis)) > state.extent(axis_of(state, axis))) {
            fail(ModelErrorKind::cache_overflows)
                << "store into '" << state.node().name << "': writing " << value.extent(axis_of(value, axis))
                << " positions from " << begin << " into a capacity of " << state.extent(axis_of(state, axis));
        }
        add(node);
    }

    /// Writes `value` into a state along `axis`, from a position that is itself device data: an integer state with one
    /// element, or with one element a series.
    constexpr void store_at(Tensor state, Tensor value, int axis, Tensor position) {
        Node node = effect(state, value, axis);
        check_position(position, state, "store_at");
        node.inputs[2] = position.id();
        node.input_count = 3;
        add(node);
    }

    /// Keeps a tensor for inspection as a state of this name.
    constexpr void tap(std::string_view name, Tensor value, int layer = -1) {
        store(state(name, value.shape(), value.dtype(), layer), value);
    }

    /// Adds a node of any op. Blocks use the functions below; this is for those who write new ops.
    constexpr Tensor add(const Node& node) {
        graph_.nodes.push_back(node);
        return {this, graph_.size() - 1};
    }

    /// Adds a node with inputs.
    constexpr Tensor add(Op op, DType dtype, const Shape& shape, std::initializer_list<Tensor> inputs,
                         std::initializer_list<Index> attributes = {}) {
        Node node = leaf(op, dtype, shape);
        for (const Tensor& input : inputs) {
            if (&input.recorder() != this) {
                fail(ModelErrorKind::different_recorders) << name(op) << ": an input belongs to another recorder";
                continue;
            }
            if (node.input_count == max_inputs) {
                fail(ModelErrorKind::too_many_inputs) << name(op) << ": more than " << max_inputs << " inputs";
                break;
            }
            node.inputs[static_cast<std::size_t>(node.input_count++)] = input.id();
        }
        std::size_t place = 0;
        for (const Index attribute : attributes) {
            node.attributes[place++] = attribute;
        }
        return add(node);
    }

    /// Adds a node for an operation of the user.
    constexpr Tensor add_custom(Op op, const CustomOperation& operation, const Shape& shape,
                                std::initializer_list<Tensor> inputs) {
        const Tensor result = add(op, DType::f32, shape, inputs);
        graph_[result.id()].custom = &operation;
        return result;
    }

    /// Notes a mistake; only the first one is kept. Returns where to write what was found and expected.
    constexpr ModelError& fail(ModelErrorKind kind) {
        if (graph_.error.kind == ModelErrorKind::none) {
            graph_.error.kind = kind;
            return graph_.error;
        }
        ignored_ = ModelError{};
        return ignored_;
    }

    [[nodiscard]] constexpr const Graph& graph() const { return graph_; }
    [[nodiscard]] constexpr Graph take_graph() { return static_cast<Graph&&>(graph_); }

    /// The axis counted from the front, 0 after noting a mistake when there is no such axis.
    constexpr int axis_of(Tensor tensor, int axis) {
        const int rank = tensor.shape().rank;
        const int front = axis < 0 ? axis + rank : axis;
        if (front < 0 || front >= rank) {
            fail(ModelErrorKind::axis_out_of_range) << "axis " << axis << " of a tensor of shape " << tensor.shape();
            return 0;
        }
        return front;
    }

    /// Notes a mistake unless `position` is an integer tensor with one element, or one for each index of axis 0.
    constexpr void check_position(Tensor position, Tensor of, std::string_view what) {
        if (position.dtype() != DType::i32 ||
            (position.shape().size() != 1 && position.shape().size() != of.extent(0))) {
            fail(ModelErrorKind::position_is_not_an_integer_state)
                << what << ": the position must be i32 with 1 or " << of.extent(0) << " elements, found "
                << name(position.dtype()) << " of shape " << position.shape();
        }
    }

private:
    static constexpr Node leaf(Op op, DType dtype, const Shape& shape) {
        Node node;
        node.op = op;
        node.dtype = dtype;
        node.shape = shape;
        return node;
    }

    constexpr Node effect(Tensor state, Tensor value, int axis) {
        Node node = leaf(Op::store, value.dtype(), value.shape());
        node.inputs[0] = state.id();
        node.inputs[1] = value.id();
        node.input_count = 2;
        const int front = state.shape().rank == 0 ? 0 : axis_of(state, axis);
        node.attributes[0] = front;
        bool fits = state.node().op == Op::state && state.shape().rank == value.shape().rank;
        for (int i = 0; fits && i < state.shape().rank; ++i) {
            fits = i == front ? value.extent(i) <= state.extent(i)
                              : value.extent(i) == state.extent(i) || value.extent(i) == 1;
        }
        if (!fits) {
            fail(ModelErrorKind::store_does_not_fit)
                << "store into '" << state.node().name << "' of shape " << state.shape() << ": the value has shape "
                << value.shape() << ", axis " << front;
        }
        if (state.dtype() != value.dtype()) {
            fail(ModelErrorKind::dtypes_differ) << "store into '" << state.node().name << "': the state is "
                                                << name(state.dtype()) << ", the value " << name(value.dtype());
        }
        return node;
    }

    Graph graph_;
    std::vector<int> states_;
    ModelError ignored_;
};

constexpr const Node& Tensor::node() const {
    return recorder_->graph()[id_];
}

// --- Views and movement --------------------------------------------------------------------------------------------

/// The same elements under another shape of the same size.
constexpr Tensor reshape(Tensor x, const Shape& shape) {
    if (shape.size() != x.shape().size()) {
        x.recorder().fail(ModelErrorKind::reshape_changes_size)
            << "reshape: from " << x.shape() << " (" << x.shape().size() << " elements) to " << shape << " ("
            << shape.size() << " elements)";
    }
    return x.recorder().add(Op::reshape, x.dtype(), shape, {x});
}

/// Indices `begin`, `begin + step`, ... of an axis, `count` of them.
constexpr Tensor slice(Tensor x, int axis, Index begin, Index count, Index step = 1) {
    const int front = x.recorder().axis_of(x, axis);
    if (begin < 0 || count < 1 || begin + (count - 1) * step >= x.extent(front)) {
        x.recorder().fail(ModelErrorKind::slice_out_of_range)
            << "slice: indices " << begin << " to " << begin + (count - 1) * step << " of axis " << front
            << " of shape " << x.shape();
    }
    return x.recorder().add(Op::slice, x.dtype(), with_axis(x.shape(), front, count), {x}, {front, begin, step});
}

/// Axes in another order: axis i of the result is axis `axes[i]` of x.
constexpr Tensor permute(Tensor x, std::initializer_list<Index> axes) {
    Shape shape;
    for (const Index axis : axes) {
        shape = with_last(shape, x.extent(static_cast<int>(axis)));
    }
    if (!(shape.rank == x.shape().rank && shape.size() == x.shape().size())) {
        x.recorder().fail(ModelErrorKind::axis_out_of_range)
            << "permute: the axes given do not name each axis of shape " << x.shape() << " once";
    }
    return x.recorder().add(Op::permute, x.dtype(), shape, {x}, axes);
}

/// Repeats axes of extent 1 (and prepends axes) to reach `shape`.
constexpr Tensor expand(Tensor x, const Shape& shape) {
    if (!(broadcast(x.shape(), shape) == shape)) {
        x.recorder().fail(ModelErrorKind::shapes_do_not_broadcast) << "expand: from " << x.shape() << " to " << shape;
    }
    return x.recorder().add(Op::expand, x.dtype(), shape, {x});
}

/// a, then b, along an axis.
constexpr Tensor concatenate(Tensor a, Tensor b, int axis) {
    const int front = a.recorder().axis_of(a, axis);
    const Shape shape = with_axis(a.shape(), front, a.extent(front) + b.extent(front));
    if (!(with_axis(b.shape(), front, 1) == with_axis(a.shape(), front, 1))) {
        a.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << "concatenate: " << a.shape() << " and " << b.shape() << " along axis " << front;
    }
    if (a.dtype() != b.dtype()) {
        a.recorder().fail(ModelErrorKind::dtypes_differ)
            << "concatenate: " << name(a.dtype()) << " and " << name(b.dtype());
    }
    return a.recorder().add(Op::concatenate, a.dtype(), shape, {a, b}, {front});
}

/// One index of an axis, read from device data: `position` has one element, or one a series (axis 0). The axis stays,
/// with extent 1. The caller sees to it that the position is inside the axis.
constexpr Tensor take(Tensor x, int axis, Tensor position) {
    const int front = x.recorder().axis_of(x, axis);
    x.recorder().check_position(position, x, "take");
    return x.recorder().add(Op::take, x.dtype(), with_axis(x.shape(), front, 1), {x, position}, {front});
}

// --- Elementwise ---------------------------------------------------------------------------------------------------

namespace detail {

constexpr Tensor unary(Op op, Tensor x) {
    return x.recorder().add(op, x.dtype(), x.shape(), {x});
}

constexpr Tensor binary(Op op, Tensor a, Tensor b) {
    const Shape shape = broadcast(a.shape(), b.shape());
    if (shape.rank < 0) {
        a.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << name(op) << ": " << a.shape() << " and " << b.shape();
        return a;
    }
    if (a.dtype() != b.dtype()) {
        a.recorder().fail(ModelErrorKind::dtypes_differ)
            << name(op) << ": " << name(a.dtype()) << " and " << name(b.dtype()) << "; cast one of them";
    }
    return a.recorder().add(op, a.dtype(), shape, {a, b});
}

constexpr Tensor scalar(Tensor like, double value) {
    return like.recorder().constant(value, like.dtype());
}

}  // namespace detail

constexpr Tensor operator+(Tensor a, Tensor b) {
    return detail::binary(Op::add, a, b);
}
constexpr Tensor operator-(Tensor a, Tensor b) {
    return detail::binary(Op::subtract, a, b);
}
constexpr Tensor operator*(Tensor a, Tensor b) {
    return detail::binary(Op::multiply, a, b);
}
constexpr Tensor operator/(Tensor a, Tensor b) {
    return detail::binary(Op::divide, a, b);
}
constexpr Tensor operator+(Tensor a, double b) {
    return a + detail::scalar(a, b);
}
constexpr Tensor operator-(Tensor a, double b) {
    return a - detail::scalar(a, b);
}
constexpr Tensor operator*(Tensor a, double b) {
    return a * detail::scalar(a, b);
}
constexpr Tensor operator/(Tensor a, double b) {
    return a / detail::scalar(a, b);
}
constexpr Tensor operator+(double a, Tensor b) {
    return detail::scalar(b, a) + b;
}
constexpr Tensor operator-(double a, Tensor b) {
    return detail::scalar(b, a) - b;
}
constexpr Tensor operator*(double a, Tensor b) {
    return detail::scalar(b, a) * b;
}
constexpr Tensor operator/(double a, Tensor b) {
    return detail::scalar(b, a) / b;
}
constexpr Tensor operator-(Tensor x) {
    return detail::unary(Op::negate, x);
}

constexpr Tensor maximum(Tensor a, Tensor b) {
    return detail::binary(Op::maximum, a, b);
}
constexpr Tensor minimum(Tensor a, Tensor b) {
    return detail::binary(Op::minimum, a, b);
}
constexpr Tensor maximum(Tensor a, double b) {
    return maximum(a, detail::scalar(a, b));
}
constexpr Tensor minimum(Tensor a, double b) {
    return minimum(a, detail::scalar(a, b));
}
/// 1 where a < b, else 0.
constexpr Tensor less(Tensor a, Tensor b) {
    return detail::binary(Op::less, a, b);
}
constexpr Tensor less(Tensor a, double b) {
    return less(a, detail::scalar(a, b));
}
/// 1 where a equals b, else 0.
constexpr Tensor equal(Tensor a, Tensor b) {
    return detail::binary(Op::equal, a, b);
}
constexpr Tensor equal(Tensor a, double b) {
    return equal(a, detail::scalar(a, b));
}
constexpr Tensor absolute(Tensor x) {
    return detail::unary(Op::absolute, x);
}
constexpr Tensor floor(Tensor x) {
    return detail::unary(Op::floor, x);
}
constexpr Tensor exponential(Tensor x) {
    return detail::unary(Op::exponential, x);
}
constexpr Tensor logarithm(Tensor x) {
    return detail::unary(Op::logarithm, x);
}
constexpr Tensor sine(Tensor x) {
    return detail::unary(Op::sine, x);
}
constexpr Tensor cosine(Tensor x) {
    return detail::unary(Op::cosine, x);
}
constexpr Tensor square_root(Tensor x) {
    return detail::unary(Op::square_root, x);
}
constexpr Tensor reciprocal_square_root(Tensor x) {
    return detail::unary(Op::reciprocal_square_root, x);
}
/// 1 / (1 + exp(-x)).
constexpr Tensor sigmoid(Tensor x) {
    return detail::unary(Op::sigmoid, x);
}
/// x * sigmoid(x).
constexpr Tensor silu(Tensor x) {
    return detail::unary(Op::silu, x);
}
/// log(1 + exp(x)).
constexpr Tensor softplus(Tensor x) {
    return detail::unary(Op::softplus, x);
}
constexpr Tensor hyperbolic_tangent(Tensor x) {
    return detail::unary(Op::hyperbolic_tangent, x);
}

/// `yes` where `condition` is not 0, else `no`.
constexpr Tensor select(Tensor condition, Tensor yes, Tensor no) {
    const Shape values = broadcast(yes.shape(), no.shape());
    const Shape shape = values.rank < 0 ? values : broadcast(condition.shape(), values);
    if (shape.rank < 0) {
        yes.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << "select: " << condition.shape() << ", " << yes.shape() << " and " << no.shape();
        return yes;
    }
    if (yes.dtype() != no.dtype() || yes.dtype() != condition.dtype()) {
        yes.recorder().fail(ModelErrorKind::dtypes_differ) << "select: condition and both values need one dtype";
    }
    return yes.recorder().add(Op::select, yes.dtype(), shape, {condition, yes, no});
}

constexpr Tensor cast(Tensor x, DType dtype) {
    return x.dtype() == dtype ? x : x.recorder().add(Op::cast, dtype, x.shape(), {x});
}

/// (x0, x1) becomes (-x1, x0) for each pair of the last axis.
constexpr Tensor rotate_pairs(Tensor x) {
    if (x.shape().rank == 0 || x.extent(-1) % 2 != 0) {
        x.recorder().fail(ModelErrorKind::odd_rotary_width)
            << "rotate_pairs: the last axis of shape " << x.shape() << " must be even";
    }
    return detail::unary(Op::rotate_pairs, x);
}

/// An elementwise operation of the user (see `CustomOperation`) on f32 tensors.
template <class Operation, std::same_as<Tensor>... More>
constexpr Tensor apply(Tensor x, More... more) {
    Shape shape = x.shape();
    [[maybe_unused]] const auto extend = [&](Tensor other) {  // unused when there is one argument
        if (shape.rank >= 0) {
            shape = broadcast(shape, other.shape());
        }
    };
    (extend(more), ...);
    if (shape.rank < 0) {
        x.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << Operation::name << ": its inputs do not broadcast to one shape";
        return x;
    }
    if (x.dtype() != DType::f32 || ((more.dtype() != DType::f32) || ...)) {
        x.recorder().fail(ModelErrorKind::dtypes_differ) << Operation::name << ": custom operations take f32";
    }
    return x.recorder().add_custom(Op::custom_elementwise, custom_operation<Operation>, shape, {x, more...});
}

/// An opaque operation of the user (see `CustomOperation`) on f32 tensors.
template <class Operation, std::same_as<Tensor>... More>
constexpr Tensor opaque(Tensor x, More... more) {
    if (x.dtype() != DType::f32 || ((more.dtype() != DType::f32) || ...)) {
        x.recorder().fail(ModelErrorKind::dtypes_differ) << Operation::name << ": custom operations take f32";
    }
    return x.recorder().add_custom(Op::opaque, custom_operation<Operation>,
                                   Operation::shape(x.shape(), more.shape()...), {x, more...});
}

// --- Reductions and scans of the last axis ---------------------------------------------------------------------------

/// The sum over the last axis, which stays with extent 1.
constexpr Tensor sum(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::sum, x.dtype(), with_axis(x.shape(), -1, 1), {x});
}

/// The mean over the last axis, which stays with extent 1.
constexpr Tensor mean(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::mean, x.dtype(), with_axis(x.shape(), -1, 1), {x});
}

/// Running sums along the last axis.
constexpr Tensor cumulative_sum(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::cumulative_sum, x.dtype(), x.shape(), {x});
}

/// exp(x) / sum(exp(x)) over the last axis.
constexpr Tensor softmax(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::softmax, x.dtype(), x.shape(), {x});
}

// --- Products --------------------------------------------------------------------------------------------------------

/// x W^T + b. x is `[..., depth]`, `weight` is `[columns, depth]` as PyTorch stores it, `bias` is `[columns]`.
constexpr Tensor linear(Tensor x, Tensor weight, Tensor bias) {
    if (weight.shape().rank != 2 || x.shape().rank < 1 || x.extent(-1) != weight.extent(1)) {
        x.recorder().fail(ModelErrorKind::linear_depth_differs)
            << "linear: x of shape " << x.shape() << " needs a weight of shape [columns, depth] whose depth is x's "
            << "last extent, found " << weight.shape();
        return x;
    }
    if (!(bias.shape() == Shape{weight.extent(0)})) {
        x.recorder().fail(ModelErrorKind::linear_depth_differs)
            << "linear: a weight of shape " << weight.shape() << " needs a bias of shape [" << weight.extent(0)
            << "], found " << bias.shape();
        return x;
    }
    const Shape shape = with_axis(x.shape(), -1, weight.extent(0));
    return x.recorder().add(Op::linear, DType::f32, shape, {x, weight}) + bias;
}

}  // namespace totograph
