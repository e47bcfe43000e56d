// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/plan/plan.hpp>

namespace totograph {

/// Programs that share their states: a state of one name is one buffer for all of them.
template <class... Programs>
struct StateLayout {
    static constexpr std::size_t program_count = sizeof...(Programs);

    /// A state and its place in the memory that all programs share.
    struct Entry {
        StateSlot slot;
        std::size_t offset = 0;

        [[nodiscard]] constexpr std::size_t bytes() const {
            return aligned_size(static_cast<std::size_t>(slot.shape.size()) * size_in_bytes(slot.dtype));
        }
    };

private:
    struct Table {
        std::array<Entry, (Programs::states.size() + ... + 0)> entries{};
        std::size_t count = 0;
        std::size_t bytes = 0;
        bool agrees = true;

        constexpr void insert(const StateSlot& slot) {
            for (std::size_t i = 0; i < count; ++i) {
                StateSlot& known = entries[i].slot;
                if (known.layer == slot.layer && known.name == slot.name) {
                    agrees = agrees && known.shape == slot.shape && known.dtype == slot.dtype;
                    known.use = slot.use == StateUse::any ? known.use : slot.use;
                    return;
                }
            }
            entries[count].slot = slot;
            entries[count].offset = bytes;
            bytes += entries[count].bytes();
            ++count;
        }
        [[nodiscard]] constexpr std::size_t offset_of(std::string_view name, int layer) const {
            for (std::size_t i = 0; i < count; ++i) {
                if (entries[i].slot.layer == layer && entries[i].slot.name == name) {
                    return entries[i].offset;
                }
            }
            return bytes;
        }
    };

    static constexpr Table table = [] {
        Table result{};
        const auto insert_all = [&](const auto& states) {
            for (const StateSlot& slot : states) {
                result.insert(slot);
            }
        };
        (insert_all(Programs::states), ...);
        return result;
    }();
    static_assert(
        table.agrees,
        "totograph: two programs that run together declare a state of one name with different shapes or dtypes.");

public:
    static constexpr std::size_t count = table.count;
    /// Bytes of all states.
    static constexpr std::size_t bytes = table.bytes;
    /// Bytes of cached keys and values.
    static constexpr std::size_t cache_bytes = [] {
        std::size_t total = 0;
        for (std::size_t i = 0; i < table.count; ++i) {
            total += table.entries[i].slot.use == StateUse::kv_cache ? table.entries[i].bytes() : 0;
        }
        return total;
    }();
    static constexpr const auto& entries = table.entries;

    /// The state of a name, or null.
    static constexpr const Entry* find(std::string_view name, int layer = -1) {
        for (std::size_t i = 0; i < table.count; ++i) {
            if (table.entries[i].slot.layer == layer && table.entries[i].slot.name == name) {
                return &table.entries[i];
            }
        }
        return nullptr;
    }

    /// For each state of a program, its place in the shared memory.
    template <class Program>
    static constexpr std::array<std::size_t, Program::states.size()> offsets = [] {
        std::array<std::size_t, Program::states.size()> result{};
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = table.offset_of(Program::states[i].name, Program::states[i].layer);
        }
        return result;
    }();

    /// Bytes for intermediates of whichever program runs.
    static constexpr std::size_t arena_bytes = std::max({Programs::arena_bytes...});
};

}  // namespace totograph
