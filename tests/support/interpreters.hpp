// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cpu/host_matmul.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/plan/plan.hpp>

#include "plans.hpp"

// Slow executors of graphs that are known only while the test runs, for tests of many made-up graphs.

namespace totograph::test {

/// Memory of states by their names.
using States = std::map<std::string, std::vector<double>>;

inline std::string name_of(const Node& node) {
    return std::string(node.name) + "/" + std::to_string(node.layer);
}

namespace detail {

struct Block {
    Arena memory;
    cpu::TensorData data;

    Block(DType dtype, const Shape& shape)
        : memory(static_cast<std::size_t>(shape.size()) * size_in_bytes(dtype)), data{memory.data(), dtype, shape} {}
};

/// States as memory, and back.
class StateMemory {
public:
    StateMemory(const Graph& graph, const States& states) {
        for (int id = 0; id < graph.size(); ++id) {
            if (graph[id].op == Op::state) {
                auto& block = blocks_.emplace(id, Block(graph[id].dtype, graph[id].shape)).first->second;
                const auto& values = states.at(name_of(graph[id]));
                for (std::size_t at = 0; at < values.size(); ++at) {
                    block.data.set(static_cast<Index>(at), values[at]);
                }
            }
        }
    }
    [[nodiscard]] const cpu::TensorData& of(int node) const { return blocks_.at(node).data; }
    void write_back(const Graph& graph, States& states) const {
        for (const auto& [id, block] : blocks_) {
            auto& values = states.at(name_of(graph[id]));
            for (std::size_t at = 0; at < values.size(); ++at) {
                values[at] = block.data.get(static_cast<Index>(at));
            }
        }
    }

private:
    std::map<int, Block> blocks_;
};

}  // namespace detail

/// Runs a graph node by node, as it was recorded.
inline void run_graph(const Graph& graph, const TensorSource& source, States& states) {
    const detail::StateMemory memory(graph, states);
    const auto known = find_weight_expressions(graph);
    cpu::WeightEvaluator evaluator(GraphView{graph.nodes}, source);
    std::vector<cpu::TensorData> tensors(graph.nodes.size());
    std::vector<detail::Block> blocks;
    for (int id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        const auto place = static_cast<std::size_t>(id);
        if (node.op == Op::state) {
            tensors[place] = memory.of(id);
            continue;
        }
        if (known[place] != 0) {
            tensors[place] = evaluator(id);
            continue;
        }
        std::vector<cpu::TensorData> inputs;
        for (int i = node.op == Op::store ? 1 : 0; i < node.input_count; ++i) {
            inputs.push_back(tensors[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(i)])]);
        }
        if (node.op == Op::store) {
            cpu::evaluate(node, inputs, memory.of(node.inputs[0]));
        } else {
            blocks.emplace_back(node.dtype, node.shape);
            tensors[place] = blocks.back().data;
            cpu::evaluate(node, inputs, tensors[place]);
        }
    }
    memory.write_back(graph, states);
}

/// Runs a plan: what its kernels say, one number at a time.
class PlanInterpreter {
public:
    PlanInterpreter(const Planned& planned, const TensorSource& source, States& states)
        : graph_(planned.graph),
          plan_(planned.plan),
          states_(planned.graph, states),
          evaluator_(GraphView{planned.graph.nodes}, source),
          arena_(planned.plan.arena_bytes) {
        for (std::size_t i = 0; i < arena_.size() / sizeof(double); ++i) {
            reinterpret_cast<double*>(arena_.data())[i] = std::numeric_limits<double>::quiet_NaN();
        }
        for (const Step& step : plan_.steps) {
            run(step);
        }
        states_.write_back(graph_, states);
    }

private:
    using Indices = std::array<Index, max_rank>;

    /// Where a reference points, as a tensor to index from its offset on.
    [[nodiscard]] cpu::TensorData at(const Reference& reference, DType dtype, Index& offset) {
        const auto index = static_cast<std::size_t>(reference.index);
        offset = reference.offset;
        if (reference.position >= 0) {
            const auto& position = plan_.states[static_cast<std::size_t>(reference.position)];
            offset += states_.of(position.node).integers()[0] * reference.position_stride;
        }
        switch (reference.space) {
            case Space::weight: return evaluator_(plan_.weights[index].node);
            case Space::state: return states_.of(plan_.states[index].node);
            default: return {arena_.data() + plan_.buffers[index].offset, dtype, {}};
        }
    }

    static Index dot(const Indices& index, const Strides& strides, int rank) {
        Index sum = 0;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
            sum += index[axis] * strides[axis];
        }
        return sum;
    }

    template <class Visit>
    static void for_each(const Shape& shape, Visit&& visit) {
        Indices index{};
        for (Index count = 0; count < shape.size(); ++count) {
            visit(index);
            for (int axis = shape.rank - 1; axis >= 0; --axis) {
                if (++index[static_cast<std::size_t>(axis)] < shape[axis]) {
                    break;
                }
                index[static_cast<std::size_t>(axis)] = 0;
            }
        }
    }

    static double rounded(DType dtype, double value) {
        return dtype == DType::f32   ? static_cast<double>(static_cast<float>(value))
               : dtype == DType::i32 ? static_cast<double>(static_cast<std::int32_t>(value))
                                     : value;
    }

    /// A value of a chain at an index. `given(which, index)` are accumulators.
    template <class Given>
    double value_of(const Step& step, const Chain& chain, int accumulators, int first_operand, int value,
                    const Indices& index, Given&& given) {
        const Kernel& kernel = plan_.kernels[static_cast<std::size_t>(step.kernel)];
        if (value < accumulators) {
            return given(value, index);
        }
        if (value < chain.given) {
            const auto place = static_cast<std::size_t>(first_operand + value - accumulators);
            Index offset = 0;
            const auto tensor = at(step.operands[place], kernel.operands[place].dtype, offset);
            return tensor.get(offset + dot(index, kernel.operands[place].strides, kernel.iteration.rank));
        }
        const Instruction& instruction = chain.instructions[static_cast<std::size_t>(value - chain.given)];
        const auto argument = [&](std::size_t which, const Indices& where) {
            return value_of(step, chain, accumulators, first_operand, instruction.arguments[which], where, given);
        };
        if (instruction.op == Op::constant) {
            return rounded(instruction.dtype, instruction.immediate);
        }
        if (instruction.op == Op::rotate_pairs) {
            Indices other = index;
            Index& last = other[static_cast<std::size_t>(kernel.iteration.rank - 1)];
            const bool is_first = last % 2 == 0;
            last += is_first ? 1 : -1;
            return is_first ? -argument(0, other) : argument(0, other);
        }
        const double a = argument(0, index);
        const int arguments = op_row(instruction.op).most_inputs;
        const double b = arguments > 1 ? argument(1, index) : 0.0;
        const double c = arguments > 2 ? argument(2, index) : 0.0;
        return rounded(instruction.dtype, cpu::apply_elementwise(instruction.op, a, b, c));
    }

    void run(const Step& step) {
        const Kernel& kernel = plan_.kernels[static_cast<std::size_t>(step.kernel)];
        if (kernel.kind == KernelKind::structural) {
            return run_structural(step, kernel);
        }
        Shape loop = kernel.iteration;
        if (kernel.kind == KernelKind::reduction) {
            loop[-1] = 1;
        }
        Index out_offset = 0;
        const auto out = at(step.output, kernel.dtype, out_offset);
        const auto given = [&](int which, const Indices& index) {
            return kernel.kind == KernelKind::gemm ? gemm(step, kernel, which, index) : reduction(step, kernel, index);
        };
        for_each(loop, [&](const Indices& index) {
            const double value = value_of(step, kernel.chain, kernel.accumulators, kernel.prologue_operands,
                                          kernel.chain.given + kernel.chain.count - 1, index, given);
            out.set(out_offset + dot(index, kernel.output_strides, kernel.iteration.rank), value);
        });
    }

    double gemm(const Step& step, const Kernel& kernel, int which, const Indices& index) {
        Index row = 0;
        Index column = 0;
        for (int axis = 0; axis < kernel.iteration.rank; ++axis) {
            Index& number = axis < kernel.row_rank ? row : column;
            number = number * kernel.iteration[axis] + index[static_cast<std::size_t>(axis)];
        }
        Index offset = 0;
        const auto input = at(step.input, DType::f32, offset);
        const PreparedWeight& prepared = plan_.weights[static_cast<std::size_t>(step.weight.index)];
        const auto weight = evaluator_(which == 0 ? prepared.node : prepared.second_node);
        double total = 0;
        for (Index k = 0; k < kernel.k; ++k) {
            total += input.get(offset + row * kernel.input_stride + k) * weight.get(column * kernel.k + k);
        }
        return rounded(DType::f32, total);
    }

    double reduction(const Step& step, const Kernel& kernel, Indices index) {
        double total = cpu::start_of_reduction(kernel.op);
        DType dtype = kernel.operands[0].dtype;
        if (kernel.prologue.count > 0) {
            dtype = kernel.prologue.instructions[static_cast<std::size_t>(kernel.prologue.count - 1)].dtype;
        }
        for (Index column = 0; column < kernel.iteration[-1]; ++column) {
            index[static_cast<std::size_t>(kernel.iteration.rank - 1)] = column;
            total =
                cpu::reduced(kernel.op, total,
                             value_of(step, kernel.prologue, 0, 0, kernel.prologue.given + kernel.prologue.count - 1,
                                      index, [](int, const Indices&) { return 0.0; }));
        }
        return rounded(dtype, kernel.op == Op::mean ? total / static_cast<double>(kernel.iteration[-1]) : total);
    }

    /// Gathers what the operands show, and computes the node.
    void run_structural(const Step& step, const Kernel& kernel) {
        std::vector<detail::Block> blocks;
        std::vector<cpu::TensorData> inputs;
        blocks.reserve(static_cast<std::size_t>(kernel.operand_count));
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            const Operand& operand = kernel.operands[i];
            Index offset = 0;
            const auto from = at(step.operands[i], operand.dtype, offset);
            blocks.emplace_back(operand.dtype, operand.shape);
            inputs.push_back(blocks.back().data);
            Index next = 0;
            for_each(operand.shape, [&](const Indices& index) {
                blocks.back().data.set(next++, from.get(offset + dot(index, operand.strides, operand.shape.rank)));
            });
        }
        const Node& node = graph_[step.node];
        Index offset = 0;
        auto out = at(step.output, kernel.dtype, offset);
        if (node.op != Op::store) {
            out.shape = node.shape;
        }
        cpu::evaluate(node, inputs, out);
    }

    const Graph& graph_;
    const Plan& plan_;
    detail::StateMemory states_;
    cpu::WeightEvaluator evaluator_;
    Arena arena_;
};

}  // namespace totograph::test
