// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/ops/ops_device.hpp"
#include "cuda/ops/ops_gemm_rows.hpp"

// What the files of test_ops_gemm share: looking at how models are lowered, and checking tables of them.

namespace ops {

template <class Model, std::size_t launch = 0>
using LaunchOf = tg::cuda::LaunchAt<tg::Program<Model>, true, launch>;

/// The kernel that computes the GEMMs of a launch on an H100 or H200, where nothing is fused behind the launch before.
template <class Model, std::size_t launch = 0>
inline constexpr tg::cuda::GemmKernel kernel_of =
    tg::cuda::select_gemm(LaunchOf<Model, launch>::launch.gemm, {}, tg::cuda::traits_of(90)).kernel;
template <class Model, std::size_t launch = 0>
constexpr bool runs_on_sm90() {
    return kernel_of<Model, launch> == tg::cuda::GemmKernel::sm90;
}

/// Whether skinny kernels compute all GEMMs of a model.
template <class Model>
constexpr bool is_skinny() {
    using Lowered = tg::cuda::Lowering<tg::Program<Model>, true>;
    bool result = true;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        result = result && Lowered::at(i).kind != tg::cuda::LaunchKind::gemm;
    }
    return result;
}

/// Whether elementwise results are stored as bf16 for the GEMM that reads them.
template <class Model>
constexpr bool rounds_pointwise() {
    return LaunchOf<Model, 1>::launch.gemm.input_is_bf16;
}

/// Calls `visit` with the kernel of a model's attention, as a type.
template <class Model, Precision precision = Precision::bf16, class Visitor>
constexpr void visit_attention(Visitor&& visit) {
    constexpr bool streams = precision == Precision::bf16;
    using Executor = tg::cuda::Executor<precision, tg::Program<Model>>;
    using Program = typename Executor::template ProgramAt<0>;
    const auto visit_launch = [&]<class At>(At*) {
        using K = typename At::template KernelAt<0>;
        if constexpr (K::kernel.kind == tg::KernelKind::structural && K::kernel.op == tg::Op::attention) {
            visit(static_cast<K*>(nullptr));
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (visit_launch(static_cast<tg::cuda::LaunchAt<Program, streams, i>*>(nullptr)), ...);
    }
    (std::make_index_sequence<tg::cuda::Lowering<Program, streams>::count>());
}

/// Whether a model attends on tiles, to keys of this type, and the prefix can be read early.
template <class Model, class Key, bool is_early>
constexpr bool attends_on_tiles() {
    bool result = false;
    visit_attention<Model>([&]<class K>(K*) {
        result = tg::cuda::can_tile<K>(Precision::bf16) && std::is_same_v<typename K::Key, Key> &&
                 K::prefix_is_early == is_early;
    });
    return result;
}

/// Lanes that read a key of a model's attention in bf16, where blocks compute it; else 0.
template <class Model>
constexpr Index block_lanes() {
    Index result = 0;
    visit_attention<Model>([&]<class K>(K*) {
        const bool takes_block = tg::cuda::select_attention(K::kernel, tg::cuda::storage_of<K>, Precision::bf16,
                                                            tg::cuda::least_device) == tg::cuda::AttentionKernel::block;
        result = takes_block ? tg::cuda::block_key_lanes(K::kernel, std::is_same_v<typename K::Key, tg::BFloat16>) : 0;
    });
    return result;
}

/// A draw takes another component where its uniform number lies between two weights' sums that rounding moved: errors
/// of the weights, of 24 bits, 11 or 8, are shares of the draws. Twice and more what such errors can move.
template <class Model>
constexpr Bound bound_for(Precision precision) {
    Bound bound = bound_of(precision);
    if constexpr (requires { Model::draws; }) {
        bound.share = precision == Precision::f32 ? 0.999 : precision == Precision::tf32 ? 0.99 : 0.9;
    }
    return bound;
}

/// Checks a row of a table in every precision.
template <class Tested>
void check_gemm() {
    check_row(Tested::name, [] {
        using Model = typename Tested::Model;
        const std::vector<StateContent> expected = eager_states_of_gemms(Tested::name);
        // For a tool that breaks on cuBLASLt's kernels, which the rest needs.
        if (std::getenv("TOTOGRAPH_TESTS_ONLY_BF16") != nullptr) {
            check_on_device<Precision::bf16, Model>(Tested::name, expected, bound_for<Model>(Precision::bf16));
            return;
        }
        check_on_device<Precision::f32, Model>(Tested::name, expected, bound_for<Model>(Precision::f32));
        check_on_device<Precision::tf32, Model>(Tested::name, expected, bound_for<Model>(Precision::tf32));
        check_on_device<Precision::bf16, Model>(Tested::name, expected, bound_for<Model>(Precision::bf16));
        // GEMMs of many rows by cuBLASLt, and their chains apart.
        check_on_device<Precision::bf16, Model>(Tested::name, expected, bound_for<Model>(Precision::bf16),
                                                {.tunes = false, .fuses = false});
        check_on_device<Precision::tf32, Model>(Tested::name, expected, bound_for<Model>(Precision::tf32),
                                                {.tunes = false, .fuses = false});
    });
}

/// Checks all rows of a table.
template <class Rows>
void check_gemms() {
    []<std::size_t... place>(std::index_sequence<place...>) {
        (check_gemm<std::tuple_element_t<place, Rows>>(), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Rows>>());
}

}  // namespace ops
