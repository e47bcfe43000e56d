// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/checked_graph.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/record/layer_index.hpp>
#include <totograph/graph/record/loop_choices.hpp>
#include <totograph/graph/record/model_error.hpp>

namespace totograph {

class Recorder;

namespace detail {

/// What is done with a `Tensor{}`. It is not constexpr: a model that comes here does not compile, and the compiler
/// prints this name, and from where it was called.
[[noreturn]] inline void a_tensor_is_used_that_was_never_recorded() {
    throw Error(ErrorCode::invalid_argument,
                "A tensor is used that was never recorded, such as a weight of a block that was made without a name. "
                "Make the block from a recorder and a name, or record the tensor before.");
}

}  // namespace detail

/// A handle on a recorded node. It is what model code computes with; it holds no data.
class Tensor {
public:
    constexpr Tensor() = default;
    /// The node of this number.
    constexpr Tensor(Recorder* recorder, int id) : recorder_(recorder), id_(id) {}

    /// Who recorded the node.
    [[nodiscard]] constexpr Recorder& recorder() const {
        if (recorder_ == nullptr) {
            detail::a_tensor_is_used_that_was_never_recorded();
        }
        return *recorder_;
    }
    /// The number of the node.
    [[nodiscard]] constexpr int id() const { return id_; }
    /// The node.
    [[nodiscard]] constexpr const Node& node() const;
    /// The shape of its value.
    [[nodiscard]] constexpr const Shape& shape() const { return node().shape; }
    /// The dtype of its value.
    [[nodiscard]] constexpr DType dtype() const { return node().dtype; }
    /// The extent of an axis; negative axes count from the end. 1, after noting a mistake, when there is no such axis.
    [[nodiscard]] constexpr Index extent(int axis) const;

private:
    Recorder* recorder_ = nullptr;
    int id_ = -1;
};

/// Records what model code does, as a graph.
class Recorder : public CheckedGraph {
public:
    /// @param choices  how many iterations of loops are recorded
    constexpr explicit Recorder(LoopChoices choices = all_iterations) : CheckedGraph(choices) {}
    /// Tensors are of one recorder: what a copy of it records, the first one has not.
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    constexpr ~Recorder() = default;

    /// A tensor of the checkpoint. In `name`, `{}` stands for `layer`: a name has both, once, or none.
    constexpr Tensor weight(std::string_view name, const Shape& shape, LayerIndex layer = {}) {
        Node node = leaf(Op::weight, DType::f32, shape);
        node.name = name;
        set_layer(node, layer);
        if (const int places = count_layer_places(name); places != (layer.number_ >= 0 ? 1 : 0)) {
            fail(ModelErrorKind::weight_name_lacks_its_layer)
                << "weight '" << name << "': "
                << (places == 0         ? "its layer has no place in the name"
                    : layer.number_ < 0 ? "no layer is given"
                                        : "its layer has several places in the name");
        }
        return add(node);
    }

    /// A scalar. Of i32 it is a whole number, or the nearest i32 where it is beyond these.
    constexpr Tensor constant(double value, DType dtype = DType::f32) {
        if (dtype == DType::i32) {
            check_whole(value);
        }
        Node node = leaf(Op::constant, dtype, Shape{});
        node.immediate = value;
        return add(node);
    }

    /// 0, 1, ..., count - 1.
    constexpr Tensor iota(Index count, DType dtype = DType::f32) { return add(leaf(Op::iota, dtype, Shape{count})); }

    /// A buffer that outlives a run, by name. Two programs that name the same state share it. Declaring it again gives
    /// the same state. A state that each layer has its own of takes the layer's number beside its name. It is for `use`
    /// if any of its declarations says so.
    /// @param bounds  of its axes. One declaration that has any says it for all; two must not differ.
    constexpr Tensor state(std::string_view name, const Shape& shape, DType dtype = DType::f32, LayerIndex layer = {},
                           StateUse use = StateUse::any, const AxisBounds& bounds = {}) {
        Node node = leaf(Op::state, dtype, shape);
        if (name.empty()) {
            fail(ModelErrorKind::state_has_no_name) << "state: one of " << shape << " has an empty name";
        }
        node.name = name;
        set_layer(node, layer);
        node.use = use;
        node.bounds = bounds;
        if (bounds != AxisBounds{}) {
            check_bounds(bounds, most_bounds());
        }
        if (use == StateUse::bounds) {
            check_state_of_bounds(node);
        }
        for (const int id : states_) {
            Node& known = this->node(id);
            if (known.layer == node.layer && known.layer_step == node.layer_step && known.loop == node.loop &&
                known.name == name) {
                if (is_usable(shape, Op::state) && (!(known.shape == shape) || known.dtype != dtype)) {
                    fail(ModelErrorKind::state_declared_twice)
                        << "state '" << name << "': declared as " << totograph::name(known.dtype) << " " << known.shape
                        << ", then as " << totograph::name(dtype) << " " << shape;
                }
                if (known.bounds != bounds && known.bounds != AxisBounds{} && bounds != AxisBounds{}) {
                    fail(ModelErrorKind::state_declared_twice)
                        << "state '" << name << "': declared with bounds of its axes, then with others";
                }
                known.use = use == StateUse::any ? known.use : use;
                known.bounds = bounds == AxisBounds{} ? known.bounds : bounds;
                return {this, id};
            }
        }
        for (int id = 0; use == StateUse::bounds && id < graph().size(); ++id) {
            check_bounds(this->node(id).bounds, shape.size());  // those that were declared before
        }
        states_.push_back(graph().size());
        return add(node);
    }

    /// Declares that nobody needs what a tensor holds along an axis from a bound on: an executor may leave it
    /// undefined. A state takes its bounds where it is declared (`state`); other tensors need this only where their
    /// readers do not tell.
    /// @param number  of the bound: n for number n - 1 of the state that is declared with `StateUse::bounds`
    constexpr Tensor bound(Tensor tensor, int axis, std::int8_t number) {
        check_bound(number, 1, most_bounds());
        node(tensor.id()).bounds[static_cast<std::size_t>(axis_of(tensor, axis))] = number;
        return tensor;
    }

    /// Writes `value` into a state along `axis`, from index `begin`; all other axes must agree (extents of 1 repeat).
    constexpr void store(Tensor state, Tensor value, int axis = 0, Index begin = 0) {
        Node node = effect(state, value, axis);
        node.attributes.items[1] = begin;
        const auto front = static_cast<int>(node.attributes.items[0]);
        const Index count = front < value.shape().rank ? value.extent(front) : 1;  // a scalar is one position
        const Index capacity = front < state.shape().rank ? state.extent(front) : 1;
        if (begin < 0 || begin > capacity - count) {
            fail(ModelErrorKind::cache_overflows) << "store into '" << state.node().name << "': writing " << count
                                                  << " positions from " << begin << " into a capacity of " << capacity;
        }
        add(node);
    }

    /// Writes `value` into a state along `axis`, from a position that is itself device data: an integer state with one
    /// element, or with one element a series, if the axis is not theirs. One at which `value` does not lie inside the
    /// state is an `Error` of the executor (`position_out_of_bounds`), and nothing is written outside.
    constexpr void store_at(Tensor state, Tensor value, int axis, Tensor position) {
        Node node = effect(state, value, axis);
        if (state.shape().rank == 0) {
            fail(ModelErrorKind::axis_out_of_range)
                << "store_at: '" << state.node().name << "' is a scalar and has no positions";
        }
        check_position(position, state, "store_at", static_cast<int>(node.attributes[0]));
        check_recorder(position, Op::store);
        node.inputs.items[2] = position.id();
        node.input_count = 3;
        add(node);
    }

    /// Keeps a tensor for inspection as a state of this name.
    constexpr void tap(std::string_view name, Tensor value, LayerIndex layer = {}) {
        store(state(name, value.shape(), value.dtype(), layer), value);
    }

    /// Adds a node of any op. Blocks use the functions of models; this is for those who write new ops.
    constexpr Tensor add(const Node& node) { return {this, add_node(node)}; }

    /// For `repeat`: begins an iteration of the innermost loop with what it is handed. Returns its layer.
    template <std::size_t size>
    constexpr LayerIndex begin_iteration(int number, const std::array<Tensor, size>& carried) {
        const int iteration = loops().next(graph().size(), number, ids_of(carried));
        return {number, loops().is_short() ? 1 : 0, iteration};
    }
    /// For `repeat`: ends the innermost loop.
    template <std::size_t size>
    constexpr void end_loop(const std::array<Tensor, size>& results) {
        loops().end(graph().size(), ids_of(results));
    }

    /// Whether a tensor is made of weights and constants alone, so that it can be computed before the first run.
    [[nodiscard]] constexpr bool is_weight_expression(Tensor tensor) const { return is_made_of_weights(tensor.id()); }

    /// Adds a node with inputs.
    constexpr Tensor add(Op op, DType dtype, const Shape& shape, std::initializer_list<Tensor> inputs,
                         std::initializer_list<Index> attributes = {}) {
        Node node = leaf(op, dtype, shape);
        for (const Tensor& input : inputs) {
            if (!check_recorder(input, op)) {
                continue;
            }
            if (node.input_count == max_inputs) {
                fail(ModelErrorKind::too_many_inputs) << name(op) << ": more than " << max_inputs << " inputs";
                break;
            }
            node.inputs.items[node.input_count++] = input.id();
        }
        int place = 0;
        for (const Index attribute : attributes) {
            if (place < max_rank) {
                node.attributes.items[place++] = attribute;
            }
        }
        return add(node);
    }

    /// Adds an attention; `nn/attention.hpp` checks its inputs. The ids of a mask and a scale that is data come last,
    /// where the description has them.
    constexpr Tensor add_attention(const AttentionDescription& attention, const Shape& shape,
                                   std::initializer_list<Tensor> inputs, Tensor ids, Tensor scale) {
        Node node = leaf(Op::attention, DType::f32, shape);
        node.attention = attention;
        const auto append = [&](Tensor input) {
            if (check_recorder(input, Op::attention)) {
                node.inputs.items[node.input_count++] = input.id();
            }
        };
        for (const Tensor& input : inputs) {
            append(input);
        }
        if (attention.mask != KeyMask::none && ids.id() >= 0) {
            append(ids);
        }
        if (attention.scale_is_data) {
            append(scale);
        }
        return add(node);
    }

    /// Adds a node for an operation of the user.
    constexpr Tensor add_custom(Op op, const CustomOperation& operation, DType dtype, const Shape& shape,
                                std::initializer_list<Tensor> inputs) {
        for (const Tensor& input : inputs) {
            if (!operation.computes_in(input.dtype())) {
                fail(ModelErrorKind::dtype_is_not_taken)
                    << operation.name << ": an input of " << name(input.dtype())
                    << ", which the operation's `types` do not name; they are float alone where it has none";
            }
        }
        const Tensor result = add(op, dtype, shape, inputs);
        node(result.id()).custom = &operation;
        return result;
    }

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

    /// Notes a mistake unless `position` is an i32 tensor with one element, or `[n]` with one for each index of axis 0.
    /// @param axis  that it is a position on, where it is on one: on axis 0 itself there is one for all
    constexpr void check_position(Tensor position, Tensor of, std::string_view what, int axis = -1) {
        if (position.id() < 0) {
            fail(ModelErrorKind::position_is_not_an_integer_state) << what << ": the position is missing";
            return;
        }
        const bool may_be_each = axis != 0;
        if (position.dtype() != DType::i32 ||
            (position.shape().size() != 1 && !(may_be_each && position.shape() == Shape{of.extent(0)}))) {
            ModelError& error = fail(ModelErrorKind::position_is_not_an_integer_state);
            error << what << ": the position " << (may_be_each ? "" : "on axis 0 ") << "must be i32 with one element";
            if (may_be_each) {
                error << ", or of shape [" << of.extent(0) << "]";
            }
            error << ", found " << name(position.dtype()) << " of shape " << position.shape();
        }
    }

    /// Notes a mistake unless `value` is an i32 tensor of so many elements.
    constexpr void check_integers(Tensor value, Index count, std::string_view what) {
        if (value.id() < 0) {
            fail(ModelErrorKind::position_is_not_an_integer_state) << what << " is missing";
            return;
        }
        if (value.dtype() != DType::i32 || value.shape().size() != count) {
            fail(ModelErrorKind::position_is_not_an_integer_state)
                << what << " must be i32 with " << count << " elements, found " << name(value.dtype()) << " of shape "
                << value.shape();
        }
    }

private:
    /// How often `{}` is in a name. Not `find`, which costs a compiler more.
    static constexpr int count_layer_places(std::string_view name) {
        int count = 0;
        for (std::size_t i = 1; i < name.size(); ++i) {
            count += name[i] == '}' && name[i - 1] == '{' ? 1 : 0;
        }
        return count;
    }

    /// Notes a mistake where a state of bounds has another dtype than these, or another state has them.
    constexpr void check_state_of_bounds(const Node& state) {
        if (state.dtype != DType::i32) {
            fail(ModelErrorKind::bound_is_unknown)
                << "state '" << state.name << "': bounds of " << totograph::name(state.dtype) << ", expected i32";
        }
        for (const int id : states_) {
            const Node& known = node(id);
            if (known.use == StateUse::bounds && (known.name != state.name || known.layer != state.layer)) {
                fail(ModelErrorKind::bound_is_unknown)
                    << "state '" << state.name << "': it has bounds, and so has the state '" << known.name
                    << (known.name == state.name ? "' of another layer" : "'");
            }
        }
    }

    constexpr void check_bounds(const AxisBounds& bounds, Index most) {
        for (const std::int8_t number : bounds) {
            check_bound(number, 0, most);
        }
    }

    /// How many bounds there are, as far as is known.
    [[nodiscard]] constexpr Index most_bounds() {
        for (const int id : states_) {
            if (node(id).use == StateUse::bounds) {
                return node(id).shape.size();
            }
        }
        return std::numeric_limits<std::int8_t>::max();
    }

    constexpr void check_bound(std::int8_t number, int least, Index most) {
        if (number < least || number > most) {
            fail(ModelErrorKind::bound_is_unknown)
                << "bound " << Index{number} << ": expected " << Index{least} << " to " << most;
        }
    }

    constexpr void set_layer(Node& node, LayerIndex layer) {
        node.layer = layer.number_;
        node.layer_step = layer.step_;
        node.loop = layer.step_ == 0 ? 0 : static_cast<int>(loops().short_loops().size());
        for (const int iteration : {layer.oldest_, layer.newest_}) {
            if (iteration != 0 && !loops().is_open(iteration)) {
                fail(ModelErrorKind::layer_left_its_loop)
                    << name(node.op) << " '" << node.name << "': its layer is that of an iteration of `repeat` that "
                    << "has ended";
            }
        }
    }

    template <std::size_t size>
    static constexpr std::array<int, size> ids_of(const std::array<Tensor, size>& tensors) {
        std::array<int, size> ids{};
        for (std::size_t i = 0; i < size; ++i) {
            ids[i] = tensors[i].id();
        }
        return ids;
    }

    constexpr bool check_recorder(Tensor input, Op op) {
        if (input.id() < 0) {
            fail(ModelErrorKind::tensor_is_missing) << name(op) << ": an input is missing";
            return false;
        }
        if (&input.recorder() != this) {
            fail(ModelErrorKind::different_recorders) << name(op) << ": an input belongs to another recorder";
            return false;
        }
        return true;
    }

    static constexpr Node leaf(Op op, DType dtype, const Shape& shape) {
        Node node;
        node.op = op;
        node.dtype = dtype;
        node.shape = shape;
        return node;
    }

    constexpr Node effect(Tensor state, Tensor value, int axis) {
        Node node = leaf(Op::store, value.dtype(), value.shape());
        node.inputs.items[0] = state.id();
        node.inputs.items[1] = value.id();
        node.input_count = 2;
        check_recorder(state, Op::store);
        check_recorder(value, Op::store);
        const int front = state.shape().rank == 0 && axis == 0 ? 0 : axis_of(state, axis);
        node.attributes.items[0] = front;
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

    List<int> states_;
};

constexpr const Node& Tensor::node() const {
    return recorder().recorded_node(id_);
}

constexpr Index Tensor::extent(int axis) const {
    const Shape& own = shape();
    const int front = axis < 0 ? axis + own.rank : axis;
    if (front < 0 || front >= own.rank) {
        recorder_->axis_of(*this, axis);
        return 1;
    }
    return own[front];
}

}  // namespace totograph
