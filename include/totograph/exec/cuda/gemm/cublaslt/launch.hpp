// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/convert.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm_shape.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/kernel.hpp>

// What a launch asks of cuBLASLt.

namespace totograph::cuda {

/// Columns of all GEMMs of a launch.
template <class Program>
constexpr Index accumulator_columns(const Launch& launch) {
    Index total = 0;
    for (int step = launch.first_gemm(); step < launch.end_of_gemms(); ++step) {
        const Kernel& kernel = lowering_detail::kernel_of<Program>(step);
        total += kernel.columns() * kernel.accumulators;
    }
    return total;
}

/// The GEMM of a launch by cuBLASLt: of `columns` columns, all members' or one's.
template <Precision precision, class Program>
GemmShape gemm_shape(const Launch& launch, Index columns, const GemmPointers& pointers) {
    constexpr bool is_bf16 = precision == Precision::bf16;
    const int last = launch.end_of_gemms() - 1;
    const Kernel& kernel = lowering_detail::kernel_of<Program>(last);
    GemmShape shape;
    shape.m = kernel.rows();
    shape.n = columns;
    shape.k = kernel.k;
    shape.input_stride = is_bf16 || kernel.rows() == 1 ? kernel.k : kernel.input_stride;
    shape.precision = precision;
    const void* const all[] = {pointers.input, pointers.weight, pointers.output, pointers.residual, pointers.bias};
    for (const void* pointer : all) {
        while (reinterpret_cast<std::uintptr_t>(pointer) % shape.alignment != 0) {
            shape.alignment /= 2;
        }
    }
    if (launch.direct.is_possible) {
        shape.output_stride = columns;
        shape.has_bias = launch.direct.bias >= 0;
        shape.residual_stride = launch.direct.residual_stride;
    } else {
        shape.output_stride = accumulator_columns<Program>(launch);
        shape.stores_bf16_accumulators = is_bf16;
    }
    return shape;
}

/// Consecutive GEMMs of a launch that cuBLASLt computes as one, because their weights are neighbours.
struct GemmPart {
    int first = 0;    ///< The step of the first of them.
    Index begin = 0;  ///< The first of their columns.
    Index columns = 0;
};

/// @param element_bytes  of a weight
/// @param weight_of      where the weights of a step lie
template <class Program, class WeightOf>
std::vector<GemmPart> parts_of_gemms(const Launch& launch, std::size_t element_bytes, const WeightOf& weight_of) {
    std::vector<GemmPart> parts;
    const std::byte* expected = nullptr;
    Index begin = 0;
    for (int step = launch.first_gemm(); step < launch.end_of_gemms(); ++step) {
        const Kernel& kernel = lowering_detail::kernel_of<Program>(step);
        const Index columns = kernel.columns() * kernel.accumulators;
        const std::byte* weight = weight_of(step);
        if (weight != expected) {
            parts.push_back({step, begin, 0});
        }
        parts.back().columns += columns;
        begin += columns;
        expected = weight + static_cast<std::size_t>(columns * kernel.k) * element_bytes;
    }
    return parts;
}

/// Stores the input as bf16 of a launch's GEMMs, with the norm that begins it.
/// @param call     of the launch's first step
/// @param stored   rows next to each other
template <class At>
void launch_conversion(const KernelLauncher& launcher, const Device& device, const KernelCall& call, BFloat16* stored,
                       cudaStream_t stream) {
    using First = typename At::template KernelAt<At::launch.norms()>;
    constexpr Index rows = First::kernel.rows();
    constexpr bool agree = []<int... i>(std::integer_sequence<int, i...>) {
        return (
            bounds_same_rows(At::template KernelAt<0>::bounds, At::template KernelAt<At::launch.norms() + i>::bounds) &&
            ...);
    }
    (std::make_integer_sequence<int, At::launch.gemms()>());
    if constexpr (At::launch.norms() == 1) {
        constexpr Index warps = block_threads / warp_size;
        launcher.launch(&norm_and_convert_kernel<typename At::template KernelAt<0>, agree>,
                        {blocks_for(device, divide_rounding_up(rows, warps))}, stream, call, stored);
    } else {
        launcher.launch(&convert_kernel<First, agree>,
                        {blocks_for(device, divide_rounding_up(rows * First::kernel.k, Index{4} * block_threads))},
                        stream, call, stored);
    }
}

}  // namespace totograph::cuda
