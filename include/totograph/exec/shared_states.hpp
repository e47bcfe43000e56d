// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {

/// The states of several graphs: those of one name are one buffer.
class SharedStates {
public:
    /// A state and its place.
    struct Entry {
        std::string_view name;
        int layer;
        std::size_t offset;
        std::size_t bytes;
    };

    /// Lists the states of graphs that agree about them.
    explicit SharedStates(std::span<const Graph> graphs) {
        for (const Graph& graph : graphs) {
            for (const Node& node : graph.nodes) {
                if (node.op == Op::state && find(node.name, node.layer) == nullptr) {
                    const std::size_t bytes =
                        aligned_size(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
                    entries_.push_back({node.name, node.layer, bytes_, bytes});
                    bytes_ += bytes;
                }
            }
        }
    }

    /// The state of a name, or null.
    [[nodiscard]] const Entry* find(std::string_view name, int layer) const noexcept {
        for (const Entry& entry : entries_) {
            if (entry.layer == layer && entry.name == name) {
                return &entry;
            }
        }
        return nullptr;
    }
    /// Bytes of all states.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Bytes of the states whose names are `wanted`.
    [[nodiscard]] std::size_t bytes_of(bool (*wanted)(std::string_view name)) const noexcept {
        std::size_t total = 0;
        for (const Entry& entry : entries_) {
            total += wanted(entry.name) ? entry.bytes : 0;
        }
        return total;
    }

private:
    std::vector<Entry> entries_;
    std::size_t bytes_ = 0;
};

}  // namespace totograph
