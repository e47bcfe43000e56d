// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/exec/weight_layout.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/plan/tables.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph::cuda {

/// How the GEMMs of a launch read their weights.
/// @param kernel  what computes them, where it is not skinny
constexpr WeightLayout layout_of_weights(LaunchKind kind, Precision precision, GemmKernel kernel = GemmKernel::none) {
    if (precision != Precision::tf32) {
        return WeightLayout::rows;
    }
    return kind == LaunchKind::skinny || kernel == GemmKernel::skinny_cluster ? WeightLayout::tf32_tiles
           : kind == LaunchKind::gemm                                         ? WeightLayout::tf32_rows
                                                                              : WeightLayout::rows;
}

/// In which layouts a program reads a prepared weight.
class WeightUses {
public:
    constexpr void add(WeightLayout layout) { bits_ |= 1U << static_cast<unsigned>(layout); }
    [[nodiscard]] constexpr bool has(WeightLayout layout) const {
        return (bits_ >> static_cast<unsigned>(layout) & 1U) != 0;
    }
    /// Calls `visit(layout)` for each.
    template <class Visit>
    constexpr void for_each(const Visit& visit) const {
        for (const WeightLayout layout : {WeightLayout::rows, WeightLayout::tf32_rows, WeightLayout::tf32_tiles}) {
            if (has(layout)) {
                visit(layout);
            }
        }
    }

private:
    unsigned bits_ = 0;
};

/// Of each prepared weight of a program's table. One that GEMMs of few and of many rows read may be there in both.
/// @param device  that it runs on: it decides whether blocks of clusters share k
template <class Program, Precision precision>
constexpr auto find_weight_uses(const DeviceTraits& device, const Execution& execution) {
    using Lowered = Lowering<Program, precision == Precision::bf16>;
    std::array<WeightUses, Program::weights.size()> uses{};
    for (std::size_t i = 0; i != uses.size(); ++i) {  // `<` warns of a program without any
        if (!Program::weights[i].packed) {
            uses[i].add(WeightLayout::rows);
        }
    }
    for (std::size_t entry = 0; entry < Lowered::count; ++entry) {
        const Launch& launch = Lowered::at(entry);
        const bool shares_k = precision == Precision::tf32 && launch.kind == LaunchKind::gemm &&
                              takes_skinny_cluster(launch.gemm, device, execution.fuses);
        const WeightLayout layout =
            layout_of_weights(launch.kind, precision, shares_k ? GemmKernel::skinny_cluster : GemmKernel::none);
        for (int step = launch.first; step < launch.first + launch.count; ++step) {
            if (lowering_detail::kernel_of<Program>(step).kind == KernelKind::gemm) {
                const int weight = lowering_detail::step_of<Program>(step).weight.index;
                uses[static_cast<std::size_t>(weight)].add(layout);
            }
        }
    }
    return uses;
}

/// The same on the device that programs are cut for.
template <class Program, Precision precision>
inline constexpr auto weight_uses = find_weight_uses<Program, precision>(compiled_for, Execution{});

/// Bytes of a prepared weight of a program's table.
template <Precision precision>
constexpr std::size_t weight_bytes(const ProgramTables& tables, std::size_t entry, WeightLayout layout) {
    const PreparedWeight& weight = tables.weights[entry];
    return layout == WeightLayout::tf32_tiles
               ? tf32_tiles_bytes(tables.nodes[static_cast<std::size_t>(weight.node)].shape, weight.second_node >= 0)
               : totograph::weight_bytes(tables, weight, precision == Precision::bf16 ? DType::bf16 : DType::f32);
}

/// Bytes of all prepared weights that a program reads on a device.
template <class Program, Precision precision>
constexpr std::size_t weight_bytes(const DeviceTraits& device = compiled_for, const Execution& execution = {}) {
    const ProgramTables tables = short_tables_of<Program>();
    const auto uses = find_weight_uses<Program, precision>(device, execution);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < tables.weights.size(); ++i) {
        uses[i].for_each([&](WeightLayout layout) {
            const int times = tables.loops.times_of(&Loop::weights, static_cast<int>(i));
            bytes += static_cast<std::size_t>(times) * weight_bytes<precision>(tables, i, layout);
        });
    }
    return bytes;
}

/// Adds the prepared weights of a program, each in whole blocks of so many bytes: those on the device that programs are
/// cut for.
template <class Program, Precision precision>
constexpr void add_weights(DistinctWeights& weights, std::size_t block) {
    const ProgramTables tables = short_tables_of<Program>();
    for_each_weight(tables, [&](std::uint64_t identity, std::size_t entry) {
        weight_uses<Program, precision>[entry].for_each([&](WeightLayout layout) {
            const std::size_t bytes = weight_bytes<precision>(tables, entry, layout);
            const std::uint64_t own = identity ^ static_cast<std::uint64_t>(layout) * 0x9E3779B97F4A7C15ULL;
            weights.add(own, (bytes + block - 1) / block * block);
        });
    });
}

}  // namespace totograph::cuda
