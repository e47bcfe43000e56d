// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {

/// The states of several graphs: those of one name are one buffer.
class SharedStates {
public:
    /// A state and its place.
    struct Entry {
        Node node;  ///< As the first graph that has it declares it; for a use if any of them says so.
        std::size_t offset = 0;

        [[nodiscard]] std::size_t bytes() const {
            return aligned_size(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
        }
    };

    /// Lists the states of graphs. Throws `Error` (`invalid_argument`) when two of them declare a state of one name
    /// with different shapes or dtypes.
    explicit SharedStates(std::span<const Graph> graphs) {
        for (const Graph& graph : graphs) {
            for (const Node& node : graph.nodes) {
                if (node.op == Op::state) {
                    add(node);
                }
            }
        }
    }

    /// The state of a name, or null.
    [[nodiscard]] const Entry* find(std::string_view name, int layer) const noexcept {
        for (const Entry& entry : entries_) {
            if (entry.node.layer == layer && entry.node.name == name) {
                return &entry;
            }
        }
        return nullptr;
    }
    /// Bytes of all states.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Bytes of cached keys and values.
    [[nodiscard]] std::size_t cache_bytes() const noexcept {
        std::size_t total = 0;
        for (const Entry& entry : entries_) {
            total += entry.node.use == StateUse::kv_cache ? entry.bytes() : 0;
        }
        return total;
    }

private:
    void add(const Node& node) {
        const auto is_of_name = [&](const Entry& entry) {
            return entry.node.layer == node.layer && entry.node.name == node.name;
        };
        const auto known = std::find_if(entries_.begin(), entries_.end(), is_of_name);
        if (known == entries_.end()) {
            entries_.push_back({node, bytes_});
            bytes_ += entries_.back().bytes();
            return;
        }
        if (!(known->node.shape == node.shape) || known->node.dtype != node.dtype) {
            const auto text = [](const Node& state) {
                return std::string(totograph::name(state.dtype)) + " " + to_string(state.shape);
            };
            throw Error(ErrorCode::invalid_argument,
                        "Two programs that run together declare the state '" + std::string(node.name) + "'" +
                            (node.layer < 0 ? "" : " of layer " + std::to_string(node.layer)) + ", as " +
                            text(known->node) + " and as " + text(node) + "; declare it alike, or name it otherwise.");
        }
        known->node.use = node.use == StateUse::any ? known->node.use : node.use;
    }

    std::vector<Entry> entries_;
    std::size_t bytes_ = 0;
};

}  // namespace totograph
