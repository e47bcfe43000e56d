// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <totograph/core/list.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/needs_f32.hpp>
#include <totograph/graph/passes/weight_identity.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph {

namespace detail {

/// The identities of the prepared weights of a program with its loops written out. (Of nodes, only those that weights
/// are made of are looked at: compilers count weights of programs that are as deep as they come.)
constexpr List<std::uint64_t> unrolled_identities(const ProgramTables& tables) {
    const Loops& loops = tables.loops;
    const List<char> known = find_weight_expressions(GraphView{tables.nodes});
    const int nodes = loops.unrolled(&Loop::nodes, tables.nodes.size());
    List<std::uint64_t> of_nodes(static_cast<std::size_t>(nodes), 0);
    for (int id = 0; id < nodes; ++id) {
        const Loops::Place place = loops.place(&Loop::nodes, id);
        if (known[static_cast<std::size_t>(place.entry)] != 0) {
            const Node& node = tables.nodes[static_cast<std::size_t>(place.entry)];
            of_nodes[static_cast<std::size_t>(id)] =
                node_identity(node, loops.layer_of(node, place.turn), 0, [&](int input) {
                    return of_nodes[static_cast<std::size_t>(loops.at(&Loop::nodes, input, place.turn))];
                });
        }
    }
    List<std::uint64_t> result;
    const int weights = loops.unrolled(&Loop::weights, tables.weights.size());
    for (int i = 0; i < weights; ++i) {
        const Loops::Place place = loops.place(&Loop::weights, i);
        const PreparedWeight& weight = tables.weights[static_cast<std::size_t>(place.entry)];
        const auto at = [&](int node) { return node < 0 ? -1 : loops.at(&Loop::nodes, node, place.turn); };
        result.push_back(identity_of(of_nodes, at(weight.node), at(weight.second_node), weight.packed));
    }
    return result;
}

}  // namespace detail

/// The tables of a program with all iterations of its loops written out, as if no loop had been found. Made when the
/// program is about to run, so that it costs the compiler nothing.
class Unrolled {
public:
    explicit Unrolled(const ProgramTables& tables);
    // Tables point into it.
    Unrolled(const Unrolled&) = delete;
    Unrolled& operator=(const Unrolled&) = delete;
    ~Unrolled() = default;

    [[nodiscard]] ProgramTables tables() const;

private:
    /// The entries of a table, each as `make(entry, turn)` has it.
    template <class Entry, class Make>
    std::vector<Entry> unroll(Loops::Part part, std::span<const Entry> entries, const Make& make) const {
        const int count = loops_.unrolled(part, entries.size());
        std::vector<Entry> result;
        result.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            const Loops::Place place = loops_.place(part, i);
            result.push_back(make(entries[static_cast<std::size_t>(place.entry)], place.turn));
        }
        return result;
    }

    [[nodiscard]] Node at(Node node, LoopTurn turn) const;

    [[nodiscard]] Reference at(Reference reference, LoopTurn turn) const;

    [[nodiscard]] Step at(Step step, LoopTurn turn) const;

    /// Of a written iteration, only the last one is followed by what follows its loop: before, its intermediates live
    /// as long as those of the iteration before it. What was there before the loop, and is read in it, lives to its
    /// end.
    void find_last_steps();

    void find_weights();

    ProgramTables short_;
    Loops loops_;
    std::vector<Node> nodes_;
    std::vector<Step> steps_;
    std::vector<PreparedWeight> weights_;
    std::vector<StateSlot> states_;
    std::vector<Buffer> buffers_;
};

/// The tables of a `Program` with its loops written out: what the model that was recorded comes to.
template <class Program>
ProgramTables tables_of() {
    if constexpr (Program::loops.count == 0) {
        return short_tables_of<Program>();
    } else {
        static const Unrolled unrolled(short_tables_of<Program>());
        return unrolled.tables();
    }
}

/// Prepared weights of several programs, of which each distinct one is there once.
class DistinctWeights {
public:
    constexpr void add(std::uint64_t identity, std::size_t bytes) { all_.push_back({identity, bytes}); }

    /// Of all together.
    [[nodiscard]] constexpr std::size_t bytes() {
        std::sort(all_.begin(), all_.end(), [](const Weight& a, const Weight& b) {
            return a.identity != b.identity ? a.identity < b.identity : a.bytes < b.bytes;
        });
        std::size_t total = 0;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const bool is_known =
                i > 0 && all_[i].identity == all_[i - 1].identity && all_[i].bytes == all_[i - 1].bytes;
            total += is_known ? 0 : all_[i].bytes;
        }
        return total;
    }

private:
    struct Weight {
        std::uint64_t identity;
        std::size_t bytes;
    };
    List<Weight> all_;
};

/// Calls `visit(identity, entry)` for each prepared weight of a program with its loops written out: what tells it from
/// those of other programs, and its place in the program's table.
template <class Visit>
constexpr void for_each_weight(const ProgramTables& tables, const Visit& visit) {
    int place = 0;
    for (const std::uint64_t identity : detail::unrolled_identities(tables)) {
        visit(identity, static_cast<std::size_t>(tables.loops.place(&Loop::weights, place++).entry));
    }
}

/// Bytes that the prepared weights of programs take together, each distinct one once. GEMMs store theirs as `storage`,
/// or f32 where a program needs that.
template <class... Programs>
constexpr std::size_t shared_weight_bytes(DType storage) {
    DistinctWeights weights;  // a layer of one program is another one's by its name
    const auto add = [&](const ProgramTables& tables, DType stored) {
        for_each_weight(tables, [&](std::uint64_t identity, std::size_t entry) {
            weights.add(identity, weight_bytes(tables, tables.weights[entry], stored));
        });
    };
    (add(short_tables_of<Programs>(), needs_f32<Programs> ? DType::f32 : storage), ...);
    return weights.bytes();
}

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/impl/unroll.hpp>
#endif
