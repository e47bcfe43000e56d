// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/passes/fused_concatenates.hpp>
#include <totograph/graph/passes/location.hpp>
#include <totograph/graph/plan/collapse.hpp>
#include <totograph/graph/plan/references.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph::detail {

/// Adds steps to a plan, those that copy elements among them.
class StepList {
public:
    constexpr StepList(const Graph& graph, const List<char>& weight_expression, const List<Location>& locations,
                       const FusedConcatenates& parts, References& references, Plan& plan)
        : nodes_(graph.nodes.data()),
          weight_expression_(weight_expression),
          locations_(locations),
          parts_(parts),
          references_(references),
          plan_(plan),
          copied_(graph.nodes.size(), 0) {}

    /// A step by a kernel, which is new or found again.
    constexpr void add(const Kernel& kernel, Step& step) {
        step.kernel = -1;
        const Kernel* const kernels = plan_.kernels.data();
        for (int i = 0, count = static_cast<int>(plan_.kernels.size()); i < count && step.kernel < 0; ++i) {
            // What differs most often comes first, for a comparison is a call.
            if (kernels[i].operand_count == kernel.operand_count && kernels[i].chain.count == kernel.chain.count &&
                kernels[i].kind == kernel.kind && kernels[i] == kernel) {
                step.kernel = i;
            }
        }
        if (step.kernel < 0) {
            step.kernel = static_cast<int>(plan_.kernels.size());
            plan_.kernels.push_back(kernel);
        }
        plan_.steps.push_back(step);
    }

    /// Copies a view of a state that a store is about to change, into a buffer of the store's.
    constexpr Reference add_copy(int view, int store) {
        Step step = copy_of(view);
        step.output = references_.new_buffer(store);
        add(kernel_of_copy(view, contiguous_strides(nodes_[view].shape)), step);
        plan_.buffers.back().last_step = static_cast<int>(plan_.steps.size());
        return step.output;
    }

    /// Where a part of a concatenation is written: where the whole lies, with the strides of that.
    constexpr Reference part_output(int whole, int part) {
        Reference output = references_.buffer(whole);
        output.offset = parts_.begin_of(whole, nodes_[whole].inputs.items[0] == part ? 0 : 1);
        return output;
    }

    /// Copies what no group writes of a concatenation: all of it that was made before a node. A copy before a GEMM can
    /// run together with other small steps.
    constexpr void add_parts(int whole, int before) {
        for (int i = 0; i < nodes_[whole].input_count; ++i) {
            const int part = nodes_[whole].inputs.items[i];
            char& copied = copied_[static_cast<std::size_t>(whole)];
            const auto place = static_cast<char>(1 << i);
            if (parts_.whole_of(part) != whole && (copied & place) == 0 && is_made(part, whole, before)) {
                Step step = copy_of(part);
                step.output = part_output(whole, part);
                add(kernel_of_copy(part, contiguous_strides(nodes_[whole].shape)), step);
                copied = static_cast<char>(copied | place);
            }
        }
    }

    /// Copies the parts that are made of weights alone.
    constexpr void add_parts_of_weights(int whole) { add_parts(whole, before_all); }

private:
    static constexpr int before_all = -1;

    /// Whether a part has its value before a node, for good.
    [[nodiscard]] constexpr bool is_made(int part, int whole, int before) const {
        const auto place = static_cast<std::size_t>(part);
        if (before == whole || weight_expression_[place]) {
            return true;
        }
        const Location& location = locations_[place];
        return location.base < before && location.position < 0 && nodes_[location.base].op != Op::state;
    }

    constexpr Step copy_of(int id) {
        Step step;
        step.node = id;
        step.operands.items[0] = references_.to(id);
        return step;
    }
    [[nodiscard]] constexpr Kernel kernel_of_copy(int id, const Strides& output_strides) const {
        Kernel kernel;
        kernel.kind = KernelKind::pointwise;
        kernel.dtype = nodes_[id].dtype;
        kernel.iteration = nodes_[id].shape;
        kernel.row_rank = kernel.iteration.rank;
        kernel.output_strides = output_strides;
        kernel.operand_count = 1;
        kernel.operands.items[0].dtype = kernel.dtype;
        kernel.operands.items[0].strides = locations_[static_cast<std::size_t>(id)].strides;
        kernel.chain.given = 1;
        collapse(kernel);
        return kernel;
    }

    const Node* nodes_;
    const List<char>& weight_expression_;
    const List<Location>& locations_;
    const FusedConcatenates& parts_;
    References& references_;
    Plan& plan_;
    List<char> copied_;  ///< Of each concatenation a bit for each input that was copied.
};

}  // namespace totograph::detail
