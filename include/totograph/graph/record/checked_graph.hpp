// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/record/loop_choices.hpp>
#include <totograph/graph/record/loop_scopes.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/usable_shape.hpp>

namespace totograph {

/// A graph while it is recorded, with the checks that hold for every node. After the first mistake it keeps that one,
/// and goes on with harmless nodes, so that one error is reported, and it is the first.
class CheckedGraph {
public:
    /// @param choices  how many iterations of its loops are recorded
    constexpr explicit CheckedGraph(LoopChoices choices) : loops_(choices) {
        graph_.nodes.reserve(2048);
        is_weight_expression_.reserve(2048);
    }

    /// Adds a node. Dtypes must be such that the op computes in, shapes as `is_usable` wants them, and inputs come
    /// before, as many as the op takes. Returns the number of the node.
    constexpr int add_node(const Node& node) {
        graph_.nodes.push_back(node);
        Node& added = graph_.nodes.back();
        added.iteration = loops_.iteration();
        check_dtype(added);
        if (!is_usable(added.shape, added.op)) {
            added.shape = detail::usable(added.shape);
        }
        is_weight_expression_.push_back(check_inputs(added) ? 1 : 0);
        check_input_count(added);
        return graph_.size() - 1;
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

    /// What has been recorded so far.
    [[nodiscard]] constexpr const Graph& graph() const { return graph_; }
    /// Its node of this number.
    [[nodiscard]] constexpr const Node& recorded_node(int id) const { return graph_.nodes.data()[id]; }
    /// The recorded graph, moved out.
    [[nodiscard]] constexpr Graph take_graph() { return static_cast<Graph&&>(graph_); }

    /// Notes a mistake unless a tensor can have this shape: at most `max_rank` axes, of at least one element each, and
    /// at most `most_elements` together.
    /// @param op  whose result it is
    constexpr bool is_usable(const Shape& shape, Op op) {
        if (shape.rank < 0 || shape.rank > max_rank) {
            fail(ModelErrorKind::shape_is_not_usable)
                << name(op) << ": a shape of " << Index{shape.rank} << " axes; the most is " << Index{max_rank};
            return false;
        }
        const Index* const extent = shape.extents.items;
        Index room = most_elements;
        for (int axis = 0; axis < shape.rank; ++axis) {
            if (extent[axis] < 1) {
                fail(ModelErrorKind::shape_is_not_usable)
                    << name(op) << ": axis " << Index{axis} << " of shape " << shape << " is empty";
                return false;
            }
            room /= extent[axis];
        }
        if (room < 1) {
            fail(ModelErrorKind::shape_is_not_usable)
                << name(op) << ": shape " << shape << " has more elements than " << most_elements;
            return false;
        }
        return true;
    }

    /// Notes a mistake unless something is stored, or given to an opaque operation: all else is dropped.
    constexpr void check_effects() {
        for (int id = graph_.size() - 1; id >= 0; --id) {
            if (!is_pure(graph_[id].op) && graph_[id].op != Op::state) {
                return;
            }
        }
        fail(ModelErrorKind::nothing_is_stored) << "none of " << Index{graph_.size()} << " nodes is a store";
    }

    /// For `repeat`: begins a loop, and tells how many of its iterations are to be recorded.
    constexpr int begin_loop(int count) {
        if (count < 1) {
            fail(ModelErrorKind::loop_is_empty) << "repeat: " << Index{count} << " iterations";
        }
        const int recorded = loops_.begin(graph_.size(), count);
        graph_.loops = loops_.short_loops();
        return recorded;
    }

protected:
    /// Notes a mistake unless a number is one of i32, or beyond all of these.
    constexpr void check_whole(double value) {
        if (value > 2147483647.0 || value < -2147483648.0) {
            return;
        }
        const bool is_number = value == value;  // NOLINT(misc-redundant-expression): NaN is not itself
        const Index near = is_number ? static_cast<Index>(value) : 0;
        if (!is_number || static_cast<double>(near) != value) {
            ModelError& error = fail(ModelErrorKind::number_is_not_whole);
            error << "constant: i32 from ";
            if (is_number) {
                error << "a number near " << near << ", which is not whole";
            } else {
                error << "NaN";
            }
        }
    }

    [[nodiscard]] constexpr Node& node(int id) { return graph_[id]; }
    [[nodiscard]] constexpr bool is_made_of_weights(int id) const {
        return is_weight_expression_[static_cast<std::size_t>(id)] != 0;
    }

    [[nodiscard]] constexpr detail::LoopScopes& loops() { return loops_; }

private:
    constexpr void check_dtype(const Node& added) {
        if (added.dtype == DType::bf16 || added.dtype == DType::f16) {
            fail(ModelErrorKind::dtype_is_storage_only) << name(added.op) << ": a tensor of " << name(added.dtype);
        } else if (!takes_dtype(op_row(added.op).dtypes, added.dtype)) {
            fail(ModelErrorKind::dtype_is_not_taken) << name(added.op) << " of " << name(added.dtype)
                                                     << "; it computes in " << name_of(op_row(added.op).dtypes);
        }
    }

    /// Returns whether the newest node is made of weights and constants alone.
    constexpr bool check_inputs(Node& added) {
        const int id = graph_.size() - 1;
        const char* const is_weight = is_weight_expression_.data();
        bool is_known = is_pure(added.op);
        for (int i = 0; i < added.input_count; ++i) {
            int& input = added.inputs.items[i];
            if (input < 0 || input >= id) {
                fail(ModelErrorKind::different_recorders) << name(added.op) << ": input " << i << " is not recorded";
                added.input_count = i;
                break;
            }
            if (loops_.hides(input) && graph_[input].op != Op::state) {
                fail(ModelErrorKind::tensor_left_its_loop)
                    << name(added.op) << ": input " << i << " is `" << name(graph_[input].op) << "` of shape "
                    << graph_[input].shape << ", which the body of `repeat` has recorded for itself";
            }
            is_known = is_known && is_weight[input] != 0;
        }
        return is_known;
    }

    constexpr void check_input_count(const Node& added) {
        const OpRow& row = op_row(added.op);
        if (added.input_count >= row.least_inputs && added.input_count <= row.most_inputs) {
            return;
        }
        ModelError& error = fail(ModelErrorKind::input_count_differs);
        error << name(added.op) << " of " << Index{added.input_count} << " inputs; it takes "
              << Index{row.least_inputs};
        if (row.most_inputs > row.least_inputs) {
            error << " to " << Index{row.most_inputs};
        }
    }

    Graph graph_;
    List<char> is_weight_expression_;  ///< By node.
    detail::LoopScopes loops_;
    ModelError ignored_;
};

}  // namespace totograph
