// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

// Pointwise kernels and what reductions and GEMMs share with them: chains, and loading their operands.

namespace totograph::cuda {

/// The chain that runs per element of the result.
template <class K>
struct Epilogue {
    using Operations = typename K::Operations;
    static constexpr auto operands = K::kernel.operands;
    static constexpr auto chain = K::kernel.chain;
    static constexpr int accumulators = K::kernel.accumulators;
    static constexpr int first_operand = K::kernel.prologue_operands;
    static constexpr bool stores_bf16 = K::stores_bf16;
    static constexpr bool has_positions = K::has_positions;
    /// What a reduction or GEMM hands to the chain.
    static constexpr DType accumulator_dtype =
        K::kernel.kind != KernelKind::reduction ? DType::f32
        : K::kernel.prologue.count > 0
            ? K::kernel.prologue.instructions[static_cast<std::size_t>(K::kernel.prologue.count) - 1].dtype
            : K::kernel.operands[0].dtype;
};

/// The chain that runs before a reduction.
template <class K>
struct Prologue {
    using Operations = typename K::Operations;
    static constexpr auto operands = K::kernel.operands;
    static constexpr auto chain = K::kernel.prologue;
    static constexpr int accumulators = 0;
    static constexpr int first_operand = 0;
    static constexpr bool stores_bf16 = false;
    static constexpr bool has_positions = K::has_positions;
    static constexpr DType accumulator_dtype = DType::f32;
};

/// How many operands a chain reads itself.
template <class Source>
inline constexpr std::size_t operand_count = static_cast<std::size_t>(Source::chain.given - Source::accumulators);

template <class Source>
constexpr Operand operand_of(std::size_t which) {
    return Source::operands[static_cast<std::size_t>(Source::first_operand) + which];
}

namespace operands_detail {

/// The number of the `n`th bit that is set.
constexpr std::size_t bit_number(unsigned bits, std::size_t n) {
    for (; n > 0; --n) {
        bits &= bits - 1;
    }
    return static_cast<std::size_t>(std::countr_zero(bits));
}

template <unsigned bits, class Counts = std::make_index_sequence<static_cast<std::size_t>(std::popcount(bits))>>
struct BitNumbers;
template <unsigned bits, std::size_t... n>
struct BitNumbers<bits, std::index_sequence<n...>> {
    using type = std::index_sequence<bit_number(bits, n)...>;
};

}  // namespace operands_detail

/// The numbers of the operands that a chain reads and whose bit is set in `which`.
template <class Source, unsigned which>
using OperandsIn = typename operands_detail::BitNumbers<which&((1U << operand_count<Source>)-1U)>::type;

/// The stride from one element of the innermost axis to the next.
template <class K>
constexpr Index inner_stride(const Strides& strides) {
    return K::kernel.iteration.rank == 0 ? 0 : strides[static_cast<std::size_t>(K::kernel.iteration.rank) - 1];
}

/// Elements that one thread computes: neighbours of the innermost axis.
template <class K>
constexpr int lanes_of(bool is_small, int most = 4) {
    const Index inner = K::kernel.iteration.rank == 0 ? 1 : K::kernel.iteration[-1];
    bool has_wide_types = K::kernel.dtype == DType::f64;
    for (int i = 0; i < K::kernel.operand_count; ++i) {
        has_wide_types = has_wide_types || K::kernel.operands[static_cast<std::size_t>(i)].dtype == DType::f64;
    }
    const bool in_pairs = rotates_pairs(K::kernel.chain) || rotates_pairs(K::kernel.prologue);
    if (inner % most == 0 && !has_wide_types && !is_small) {
        return most;
    }
    return in_pairs || (inner % 2 == 0 && !is_small) ? 2 : 1;
}

/// Where a chain's operands lie, with positions applied: those whose bit is set in `which`.
template <class Source, unsigned which = ~0U>
struct OperandPointers {
    const void* base[operand_count<Source> == 0 ? 1 : operand_count<Source>] = {};

    __device__ __forceinline__ explicit OperandPointers(const KernelCall& call) {
        set(call, positions_of<Source>(call), OperandsIn<Source, which>());
    }
    /// `positions` is what the addresses are asked with: `positions_of<Source>(call)`, or what stands for it.
    template <class Positions>
    __device__ __forceinline__ OperandPointers(const KernelCall& call, const Positions& positions) {
        set(call, positions, OperandsIn<Source, which>());
    }

private:
    template <class Positions, std::size_t... i>
    __device__ __forceinline__ void set(const KernelCall& call, const Positions& positions, std::index_sequence<i...>) {
        ((base[i] = call.operands[static_cast<std::size_t>(Source::first_operand) + i]
                        .template get<Element<operand_of<Source>(i).dtype>>(positions)),
         ...);
    }
};

/// Loads the operands of a chain at a place of its iteration: those whose bit is set in `which`; their pointers are.
/// @param apart  of eight lanes, as `load_fours` takes it
template <class K, class Source, int lanes, unsigned which = ~0U, unsigned known, int rank, class Values,
          class Apart = Neighbours>
__device__ __forceinline__ void load_operands(const OperandPointers<Source, known>& pointers,
                                              const Place<K, rank>& place, Values& values, Apart apart = {}) {
    const auto load = [apart]<Index stride, class T>(std::integral_constant<Index, stride>, const T* from) {
        if constexpr (lanes == 8) {
            return load_fours<stride, K::is_aligned>(from, apart);
        } else {
            return load_pack<stride, lanes, K::is_aligned>(from);
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((chain_detail::at<static_cast<std::size_t>(Source::accumulators) + i>(values) =
              load(std::integral_constant<Index, inner_stride<K>(operand_of<Source>(i).strides)>{},
                   static_cast<const Element<operand_of<Source>(i).dtype>*>(pointers.base[i]) +
                       offset_of<K, StridesOfOperand<K, Source::first_operand + static_cast<int>(i)>>(place))),
         ...);
    }
    (OperandsIn<Source, which>());
}

/// Asks the nearest cache for the operands of a chain at a place of its iteration: those whose bit is set in `which`.
template <class K, class Source, unsigned which, unsigned known, int rank>
__device__ __forceinline__ void touch_operands(const OperandPointers<Source, known>& pointers,
                                               const Place<K, rank>& place) {
    const auto touch = [](const void* element) { asm volatile("prefetch.global.L1 [%0];" ::"l"(element)); };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (touch(static_cast<const Element<operand_of<Source>(i).dtype>*>(pointers.base[i]) +
               offset_of<K, StridesOfOperand<K, Source::first_operand + static_cast<int>(i)>>(place)),
         ...);
    }
    (OperandsIn<Source, which>());
}

/// A copy of what is stored as bf16, on all threads of the grid.
template <class K, class Threads, class Used>
__device__ void run_copy_of_bf16(const KernelCall& call, const Used& used) {
    constexpr Index size = K::kernel.iteration.size();
    constexpr int lanes = lanes_of<K>(Threads::template has_singles<size>(), Threads::most_lanes);
    constexpr auto items = static_cast<Offset<K>>(size / lanes);
    if (!Threads::template has_item<items>()) {
        return;
    }
    const auto* const in = call.operands[0].get<BFloat16>(positions_of<K>(call));
    auto* const out = call.output.get<BFloat16>(positions_of<K>(call));
    const auto read = [&](Offset<K> item) {
        return load_pack<inner_stride<K>(K::kernel.operands[0].strides), lanes, K::is_aligned>(
            in + offset_of<K, StridesOfOperand<K, 0>>(place_of<K, IterationOf<K>>(item * lanes)));
    };
    const auto write = [&](Offset<K> item, const Pack<BFloat16, lanes>& values) {
        store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(
            out + offset_of<K, StridesOfOutput<K>>(place_of<K, IterationOf<K>>(item * lanes)), values);
    };
    Threads::template for_each<items>(read, write,
                                      [&](Offset<K> item) { return used.template has_any_of<lanes>(item * lanes); });
}

/// A pointwise kernel, on all threads of the grid.
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_pointwise(const KernelCall& call, const Used& used) {
    using Source = Epilogue<K>;
    constexpr Index size = K::kernel.iteration.size();
    constexpr int lanes = lanes_of<K>(Threads::template has_singles<size>(), Threads::most_lanes);
    constexpr auto items = static_cast<Offset<K>>(size / lanes);
    if (!Threads::template has_item<items>()) {
        return;
    }
    const OperandPointers<Source> pointers(call);
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    using Values = ChainValues<Source, lanes>;
    const auto read = [&](Offset<K> item) {
        Values values;
        load_operands<K, Source, lanes>(pointers, place_of<K, IterationOf<K>>(item * lanes), values);
        return values;
    };
    const auto write = [&](Offset<K> item, Values& values) {
        const auto place = place_of<K, IterationOf<K>>(item * lanes);
        store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(
            out + offset_of<K, StridesOfOutput<K>>(place), stored_as<Output<K>>(run_chain<Source, lanes>(values)));
    };
    Threads::template for_each<items>(read, write,
                                      [&](Offset<K> item) { return used.template has_any_of<lanes>(item * lanes); });
}

}  // namespace totograph::cuda
