// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/check_positions.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/finite_weights.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {

/// The layer that an expression reads a weight of; -1 for one of no layer.
inline int layer_of(GraphView graph, int id) {
    const Node& node = graph[id];
    int layer = node.layer;
    for (int i = 0; i < node.input_count && layer < 0; ++i) {
        layer = layer_of(graph, node.inputs[static_cast<std::size_t>(i)]);
    }
    return layer;
}

/// Computes weight expressions of a graph from the checkpoint.
///
/// A node is computed whole, once, and kept until `forget`; or in ranges of its elements, by many threads, kept
/// nowhere. Ranges pass through the nodes that only move whole rows or multiply by a vector, so that a weight goes from
/// the file to its place in pieces that stay in cache. Both ways give the same numbers to the bit. Values of the
/// checkpoint that are not finite are met here: an `Error` (`tensor_mismatch`) names the tensor and the first bad
/// index.
///
/// `Matmul` computes what is not done here: `evaluate(node, inputs, out)`, and `compose(team, a, b, out)` for a
/// `matmul`, of which `b` is a `Ranges`. Its `forget()` frees what it has kept of nodes.
template <class Matmul>
class BasicWeightEvaluator {
public:
    /// A node as a source of ranges, for several threads.
    struct Ranges {
        const BasicWeightEvaluator& evaluator;
        int node = 0;
        Shape shape{};

        /// The elements `[first, first + count)`, where they lie or in `buffer`.
        const float* operator()(Index first, Index count, float* buffer) const {
            return evaluator.view(node, first, count, buffer);
        }
    };

    /// Without a team the caller's thread does all.
    BasicWeightEvaluator(GraphView graph, const TensorSource& source, Team* team = nullptr, Matmul matmul = Matmul())
        : graph_(graph),
          source_(source),
          team_(team == nullptr ? &alone_ : team),
          matmul_(std::move(matmul)),
          results_(static_cast<std::size_t>(graph.size())),
          readers_(results_.size()) {}
    // It points to a team of its own.
    BasicWeightEvaluator(const BasicWeightEvaluator&) = delete;
    BasicWeightEvaluator& operator=(const BasicWeightEvaluator&) = delete;
    ~BasicWeightEvaluator() = default;

    /// The value of a node that depends on weights and constants alone.
    cpu::TensorData operator()(int id) {
        auto& memory = results_[static_cast<std::size_t>(id)];
        const Node& node = graph_[id];
        cpu::TensorData out{nullptr, node.dtype, node.shape};
        if (memory.data() == nullptr) {
            Arena fresh(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
            out.data = fresh.data();
            compute(id, out);
            memory = std::move(fresh);
        }
        out.data = memory.data();
        return out;
    }

    /// The same into memory of the caller, of the node's dtype and shape; not kept.
    void write(int id, std::byte* to) {
        const Node& node = graph_[id];
        const cpu::TensorData out{to, node.dtype, node.shape};
        if (const Arena& whole = results_[static_cast<std::size_t>(id)]; whole.data() != nullptr) {
            std::memcpy(to, whole.data(), whole.size());
        } else {
            compute(id, out);
        }
    }

    /// Makes ready what ranges of a node need. The node's dtype is f32.
    Ranges ranges(int id) {
        make_ready(id);
        return {*this, id, graph_[id].shape};
    }

    /// Frees everything computed so far, and lets go of the tensors that ranges were read of.
    void forget() {
        results_ = std::vector<Arena>(results_.size());
        readers_ = std::vector<std::unique_ptr<const TensorReader>>(readers_.size());
        matmul_.forget();
    }

    [[nodiscard]] Team& team() noexcept { return *team_; }

private:
    /// Elements that one thread computes at a time: they stay in its cache.
    static constexpr Index range_size = Index{1} << 16U;
    /// A range is made of runs that its source reads one by one: shorter ones do not pay.
    static constexpr Index shortest_run = 16;

    void compute(int id, const cpu::TensorData& out) {
        const Node& node = graph_[id];
        if (moves_rows(node)) {
            make_inputs_ready(node);
            return fill(id, out);
        }
        if (node.op == Op::weight) {
            if (open(id)) {
                return fill(id, out);
            }
            const std::span<float> values(out.floats(), static_cast<std::size_t>(node.shape.size()));
            source_.read(full_name(node), node.shape, values);
            return require_finite(full_name(node), node.shape, values);
        }
        if (node.op == Op::matmul) {
            const cpu::TensorData a = (*this)(node.inputs[0]);
            return matmul_.compose(*team_, a, ranges(node.inputs[1]), out);
        }
        std::vector<cpu::TensorData> inputs;
        inputs.reserve(static_cast<std::size_t>(node.input_count));
        for (int i = 0; i < node.input_count; ++i) {
            inputs.push_back((*this)(node.inputs[static_cast<std::size_t>(i)]));
        }
        cpu::check_positions(graph_, node, inputs);
        matmul_.evaluate(node, inputs, out);
    }

    /// Fills a whole tensor range by range.
    void fill(int id, const cpu::TensorData& out) {
        const Index size = out.shape.size();
        team_->for_each(divide_rounding_up(size, range_size), [&](Index item, int) {
            const Index first = item * range_size;
            const Index count = std::min(range_size, size - first);
            range(id, first, {out.floats() + first, static_cast<std::size_t>(count)});
        });
    }

    bool open(int id) {
        auto& reader = readers_[static_cast<std::size_t>(id)];
        if (!reader) {
            reader = source_.reader(full_name(graph_[id]), graph_[id].shape);
        }
        return reader != nullptr;
    }

    void make_ready(int id) {
        const Node& node = graph_[id];
        if (is_known(id) || (node.op == Op::weight && open(id))) {
            return;
        }
        if (moves_rows(node)) {
            make_inputs_ready(node);
        } else {
            (*this)(id);
        }
    }

    void make_inputs_ready(const Node& node) {
        const int large = large_input(node);
        for (int i = 0; i < node.input_count; ++i) {
            if (i == large) {
                make_ready(node.inputs[static_cast<std::size_t>(i)]);
            } else {
                (*this)(node.inputs[static_cast<std::size_t>(i)]);
            }
        }
    }

    [[nodiscard]] bool is_known(int id) const { return results_[static_cast<std::size_t>(id)].data() != nullptr; }

    /// Which input is as large as the node; the others are read whole.
    [[nodiscard]] int large_input(const Node& node) const {
        return node.op == Op::multiply && graph_.input(node, 0).shape.size() != node.shape.size() ? 1 : 0;
    }

    /// Whether ranges of the node are made of ranges of an input.
    [[nodiscard]] bool moves_rows(const Node& node) const {
        for (int i = 0; i < node.input_count; ++i) {
            if (graph_.input(node, i).dtype != DType::f32) {
                return false;
            }
        }
        switch (node.op) {
            case Op::reshape: return true;
            case Op::slice: return slice_run(node) >= shortest_run;
            case Op::permute: return permute_run(node) >= shortest_run;
            case Op::multiply: {
                const int large = large_input(node);
                return graph_.input(node, large).shape.size() == node.shape.size() &&
                       repeats(graph_.input(node, 1 - large).shape, node.shape);
            }
            default: return false;
        }
    }

    /// Whether a tensor that broadcasts to `shape` is read from its begin to its end, again and again.
    static bool repeats(const Shape& from, const Shape& shape) {
        int axis = 0;
        while (axis < from.rank && from[axis] == 1) {
            ++axis;
        }
        for (; axis < from.rank; ++axis) {
            if (from[axis] != shape[axis + shape.rank - from.rank]) {
                return false;
            }
        }
        return true;
    }

    static Index size_behind(const Shape& shape, int axis) {
        Index size = 1;
        for (int behind = axis + 1; behind < shape.rank; ++behind) {
            size *= shape[behind];
        }
        return size;
    }

    /// Elements of a slice that lie together in its input.
    static Index slice_run(const Node& node) {
        const auto axis = static_cast<int>(node.attributes[0]);
        const Index behind = size_behind(node.shape, axis);
        return node.attributes[2] == 1 ? behind * node.shape[axis] : behind;
    }

    /// How many axes a permutation leaves at its end.
    static int axes_kept(const Node& node) {
        int kept = 0;
        while (kept < node.shape.rank &&
               node.attributes[static_cast<std::size_t>(node.shape.rank - 1 - kept)] == node.shape.rank - 1 - kept) {
            ++kept;
        }
        return kept;
    }

    static Index permute_run(const Node& node) {
        return size_behind(node.shape, node.shape.rank - 1 - axes_kept(node));
    }

    /// Elements from `first` on, in the memory of a node that is known, or computed into `buffer`.
    const float* view(int id, Index first, Index count, float* buffer) const {
        const Arena& whole = results_[static_cast<std::size_t>(id)];
        if (whole.data() != nullptr) {
            return reinterpret_cast<const float*>(whole.data()) + first;
        }
        range(id, first, {buffer, static_cast<std::size_t>(count)});
        return buffer;
    }

    void range(int id, Index first, std::span<float> values) const {
        const Node& node = graph_[id];
        if (const Arena& whole = results_[static_cast<std::size_t>(id)]; whole.data() != nullptr) {
            std::memcpy(values.data(), reinterpret_cast<const float*>(whole.data()) + first, values.size_bytes());
            return;
        }
        const int input = node.inputs[static_cast<std::size_t>(large_input(node))];
        switch (node.op) {
            case Op::reshape: return range(input, first, values);
            case Op::slice: {
                const auto axis = static_cast<int>(node.attributes[0]);
                const Index behind = size_behind(node.shape, axis);
                const Index extent = graph_[input].shape[axis];
                const bool is_dense = node.attributes[2] == 1;
                return runs(input, slice_run(node), first, values, [&](Index run) {
                    const Index outer = is_dense ? run : run / node.shape[axis];
                    const Index inner = is_dense ? 0 : run % node.shape[axis];
                    return (outer * extent + node.attributes[1] + inner * node.attributes[2]) * behind;
                });
            }
            case Op::permute: {
                const Strides from = contiguous_strides(graph_[input].shape);
                const int moved = node.shape.rank - axes_kept(node);
                return runs(input, permute_run(node), first, values, [&](Index run) {
                    Index offset = 0;
                    for (int axis = moved - 1; axis >= 0; --axis) {
                        const auto source = static_cast<std::size_t>(node.attributes[static_cast<std::size_t>(axis)]);
                        offset += run % node.shape[axis] * from[source];
                        run /= node.shape[axis];
                    }
                    return offset;
                });
            }
            case Op::multiply: {
                range(input, first, values);
                const int other = node.inputs[static_cast<std::size_t>(1 - large_input(node))];
                const auto* factors = reinterpret_cast<const float*>(results_[static_cast<std::size_t>(other)].data());
                return scale(values, first, factors, graph_[other].shape.size());
            }
            default: {
                const TensorReader& reader = *readers_[static_cast<std::size_t>(id)];
                reader.read(static_cast<std::size_t>(first), values);
                if (!all_finite(values)) {  // other threads may have found a later one: the error tells the first
                    require_finite(full_name(node), node.shape, reader);
                }
            }
        }
    }

    /// Collects values that lie in runs of equal length; `offset_of(run)` is where one begins in the input.
    template <class OffsetOf>
    void runs(int input, Index length, Index first, std::span<float> values, OffsetOf offset_of) const {
        while (!values.empty()) {
            const Index within = first % length;
            const auto count = std::min(values.size(), static_cast<std::size_t>(length - within));
            range(input, offset_of(first / length) + within, values.first(count));
            values = values.subspan(count);
            first += static_cast<Index>(count);
        }
    }

    /// Multiplies by factors that repeat. A product of two floats is exact in double, so this is what `evaluate`
    /// computes.
    static void scale(std::span<float> values, Index first, const float* factors, Index count) {
        if (count == 1) {
            std::for_each(values.begin(), values.end(), [factor = *factors](float& value) { value *= factor; });
            return;
        }
        std::size_t at = 0;
        while (at < values.size()) {
            const Index begin = (first + static_cast<Index>(at)) % count;
            const std::size_t length = std::min(values.size() - at, static_cast<std::size_t>(count - begin));
            float* const to = values.data() + at;
            const float* const by = factors + begin;
            for (std::size_t i = 0; i < length; ++i) {
                to[i] *= by[i];
            }
            at += length;
        }
    }

    GraphView graph_;
    const TensorSource& source_;
    Team alone_;
    Team* team_;
    Matmul matmul_;
    std::vector<Arena> results_;
    std::vector<std::unique_ptr<const TensorReader>> readers_;
};

}  // namespace totograph
