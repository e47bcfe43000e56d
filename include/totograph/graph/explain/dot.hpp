// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/graph/explain.hpp>
#include <totograph/graph/explain/names.hpp>
#include <totograph/graph/explain/steps.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph {

/// What `explain_dot` draws.
struct DotOptions {
    bool fold_layers = true;    ///< Equal layers in a row are drawn once.
    bool label_edges = true;    ///< Edges carry the shape of what flows along them.
    bool label_weights = true;  ///< Steps name the weights that they read.
};

namespace detail {

/// How a node is drawn. Colours are light enough for black text in print, and shapes differ without them.
struct DotLook {
    std::string_view shape;
    std::string_view fill;
    std::string_view border;
    std::string_view more = {};  ///< Further attributes.
};

inline constexpr DotLook gemm_look{"box", "#cfe2f3", "#2f5f8f"};
inline constexpr DotLook attention_look{"hexagon", "#fbd9b5", "#b8651b"};
inline constexpr DotLook reduction_look{"box", "#d5ead0", "#4c8a3f", ", style=\"filled,diagonals\""};
inline constexpr DotLook random_look{"octagon", "#ecd5ea", "#86477f"};
inline constexpr DotLook movement_look{"cds", "#eeeeee", "#777777", ", margin=\"0.18,0.09\""};
inline constexpr DotLook elementwise_look{"box", "#fff6cc", "#a8912c", ", style=\"rounded,filled\""};
inline constexpr DotLook state_look{"cylinder", "#ffffff", "#444444"};
inline constexpr DotLook weight_look{"note", "#ffffff", "#777777"};

DotLook look_of(Op op);

DotLook look_of(const Kernel& kernel);

/// One node: a bold line, then small lines.
std::string dot_node(std::string_view id, const DotLook& look, std::string_view title,
                     const std::vector<std::string>& lines);

std::string dot_header(std::string_view title);

/// The steps of a program as a Graphviz picture.
class ProgramDrawing {
public:
    ProgramDrawing(const ProgramTables& tables, const DotOptions& options);

    [[nodiscard]] std::string text(std::string_view title) const;

private:
    struct DrawnState {
        int index = 0;
        int section = -1;
        bool is_written = false;
    };
    struct Edge {
        std::string label;
        bool is_position = false;
        bool goes_back = false;  ///< From one of equal layers to the next.
    };

    [[nodiscard]] const Kernel& kernel_of(int place) const {
        const Step& step = tables_.steps[static_cast<std::size_t>(place)];
        return tables_.kernels[static_cast<std::size_t>(step.kernel)];
    }

    /// For each step, the one that is drawn for it, and its section.
    void find_shown();

    void find_first_writes();

    /// A state is drawn as it is before the program writes it, and as it is then; states of equal layers are one.
    std::string draw_state(int index, int place, bool after);

    void connect(int place);

    void add_edge(const std::string& from, const std::string& to, const Shape& shape, bool is_position, bool goes_back);

    static std::string step_id(int place) { return "step" + std::to_string(place); }

    [[nodiscard]] std::string step_node(int place) const;

    [[nodiscard]] std::string state_node(const std::string& id, const DrawnState& state) const;

    [[nodiscard]] std::string edge_attributes(const Edge& edge) const;

    ProgramTables tables_;
    DotOptions options_;
    ProgramWords words_;
    ProgramNames names_;
    std::vector<Section> sections_;
    std::vector<int> shown_;
    std::vector<int> section_of_;
    std::vector<int> first_write_;
    std::map<std::string, std::size_t> state_ids_;
    std::set<std::string> goes_back_;
    std::map<std::string, DrawnState> states_;
    std::map<std::pair<std::string, std::string>, Edge> edges_;
};

}  // namespace detail

/// The steps of a planned program as a Graphviz picture: GEMMs, attentions, reductions, elementwise kernels and
/// states in shapes and colours of their own, a box around each layer. `tools/render_graph.sh` makes an image of it.
inline std::string explain_dot(const ProgramTables& tables, std::string_view title, const DotOptions& options = {}) {
    return detail::ProgramDrawing(tables, options).text(title);
}

/// The same for a `Program`.
template <class Program>
std::string explain_dot(std::string_view title, const DotOptions& options = {}) {
    return explain_dot(tables_of<Program>(), title, options);
}

/// The nodes of a graph as a Graphviz picture, before or after rewriting. Readable for up to a hundred nodes or so.
std::string explain_graph_dot(std::span<const Node> nodes, std::string_view title);

/// The same for the rewritten graph of a `Program`.
template <class Program>
std::string explain_graph_dot(std::string_view title) {
    return explain_graph_dot(tables_of<Program>().nodes, title);
}

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/explain/impl/dot.hpp>
#endif
