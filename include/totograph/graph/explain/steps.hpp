// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/graph/explain/chain.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/passes/rewrite.hpp>

namespace totograph::detail {

/// A name with its layer, in place of `{}` or behind it: `layers.3.norm`, `prefix.keys 3`.
std::string name_with_layer(std::string_view name, int layer);

/// A weight of the checkpoint or a state, by its name as recorded.
struct NameAndLayer {
    std::string_view name;
    int layer = -1;

    friend bool operator==(const NameAndLayer&, const NameAndLayer&) = default;
    friend auto operator<=>(const NameAndLayer&, const NameAndLayer&) = default;
};

/// Something that a step reads: the result of an earlier step, or a state.
struct Source {
    bool is_state = false;
    int index = 0;             ///< Of the step, or of the state.
    bool is_position = false;  ///< It only tells where to read or write.

    friend bool operator==(const Source&, const Source&) = default;
};

/// A step in words.
struct StepWords {
    std::string what;                   ///< `GEMM 64->256 x2`, `mean of 768`, `attention of 12 heads of 64, causal`.
    std::vector<std::string> before;    ///< What happens to the elements of a reduction first.
    std::vector<std::string> after;     ///< What happens to the result before it is written.
    std::vector<NameAndLayer> weights;  ///< Of the checkpoint, in the order of the operands.
    std::vector<Source> sources;        ///< Each once.
    std::vector<int> nodes;             ///< Of the rewritten graph: what this step computes.
    int layer = -1;

    /// All of it in one line.
    [[nodiscard]] std::string line() const;
};

/// Steps of one layer (or of none) in a row, or of several equal layers in a row, of which the first is told.
struct Section {
    int layer = -1;
    int first = 0;  ///< Step.
    int count = 0;  ///< Steps of one layer.
    int repeats = 1;
};

/// What a node of the rewritten graph became.
struct NodePlace {
    int step = -1;  ///< Which computes it.
    bool is_prepared = false;
};

/// A planned program in words.
class ProgramWords {
public:
    explicit ProgramWords(const ProgramTables& tables);

    [[nodiscard]] const StepWords& step(int place) const { return steps_[static_cast<std::size_t>(place)]; }
    [[nodiscard]] const std::vector<NodePlace>& node_places() const { return node_places_; }
    [[nodiscard]] int step_count() const { return static_cast<int>(steps_.size()); }

    /// The sections of the program; with `fold`, equal layers in a row are one.
    [[nodiscard]] std::vector<Section> sections(bool fold) const;

    /// The weights of the checkpoint below a node, in the order of its inputs.
    [[nodiscard]] std::vector<NameAndLayer> weights_below(int node) const;

private:
    [[nodiscard]] const Node& node(int id) const { return tables_.nodes[static_cast<std::size_t>(id)]; }
    [[nodiscard]] const Step& plan_step(int place) const { return tables_.steps[static_cast<std::size_t>(place)]; }
    [[nodiscard]] const Kernel& kernel_of(int place) const {
        return tables_.kernels[static_cast<std::size_t>(plan_step(place).kernel)];
    }
    [[nodiscard]] const PreparedWeight& weight(const Reference& reference) const {
        return tables_.weights[static_cast<std::size_t>(reference.index)];
    }

    /// Which step computes each node. A plan tells the last node of each step; the others are those that it leads back
    /// to without meeting the last node of another step, for nothing else reads them.
    void find_nodes();

    /// The node itself, or the one behind it when it only tells where elements of that one are.
    [[nodiscard]] int find_computed(int id) const;

    void claim_inputs(const Node& of, int step);

    void collect_weights(int id, std::vector<NameAndLayer>& found, std::set<int>& seen) const;

    void describe(int place);

    /// The number that a step stores, where it is one, after a space.
    [[nodiscard]] std::string constant_stored(const Step& step) const;

    [[nodiscard]] static std::string what_of(const Kernel& kernel);

    [[nodiscard]] std::vector<GivenKind> kinds_given(int place, const Chain& chain, int first_operand) const;

    static void add_source(StepWords& words, const Source& source);

    void add_reference(StepWords& words, const Reference& reference) const;

    /// A step belongs to the layer of the weights that it reads, else of its states, else of all steps that read it.
    void find_layers();

    [[nodiscard]] int layer_of_states(int place) const;

    /// Whether a section does what the last of `before` does, one layer on: the same kernels on weights and states of
    /// the same names.
    [[nodiscard]] bool are_equal(const Section& before, const Section& next) const;

    [[nodiscard]] bool equal_names(int one, int other) const;

    ProgramTables tables_;
    std::vector<StepWords> steps_;
    std::vector<NodePlace> node_places_;
    std::vector<Section> sections_;
};

}  // namespace totograph::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/explain/impl/steps.hpp>
#endif
