// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/library_product.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/step_kernels.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/graph/kernel.hpp>

// What a launch asks of the library.

namespace totograph::cuda {

/// What a product of the library reads and writes.
struct ProductPointers {
    const void* input = nullptr;
    const void* weight = nullptr;
    void* output = nullptr;
    const float* residual = nullptr;
    const float* bias = nullptr;
};

/// Columns of all products of a library launch.
template <class Program>
constexpr Index sum_columns(const Launch& launch) {
    Index total = 0;
    for (int step = launch.first_gemm(); step < launch.end_of_gemms(); ++step) {
        const Kernel& kernel = lowering_detail::kernel_of<Program>(step);
        total += kernel.columns() * kernel.accumulators;
    }
    return total;
}

/// The product of a library launch: of `columns` columns, all members' or one's.
template <Precision precision, class Program>
ProductShape product_shape(const Launch& launch, Index columns, const ProductPointers& pointers) {
    constexpr bool is_bf16 = precision == Precision::bf16;
    const int last = launch.end_of_gemms() - 1;
    const Kernel& kernel = lowering_detail::kernel_of<Program>(last);
    ProductShape shape;
    shape.rows = kernel.rows();
    shape.columns = columns;
    shape.depth = kernel.depth;
    shape.input_stride = is_bf16 || kernel.rows() == 1 ? kernel.depth : kernel.input_stride;
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
        shape.output_stride = sum_columns<Program>(launch);
        shape.stores_bf16_sums = is_bf16;
    }
    return shape;
}

/// Consecutive products of a library launch that the library computes as one, because their weights are neighbours.
struct ProductPart {
    int first = 0;    ///< The step of the first of them.
    Index begin = 0;  ///< The first of their columns.
    Index columns = 0;
};

/// @param element_bytes  of a weight
/// @param weight_of      where the weights of a step lie
template <class Program, class WeightOf>
std::vector<ProductPart> parts_of_products(const Launch& launch, std::size_t element_bytes, const WeightOf& weight_of) {
    std::vector<ProductPart> parts;
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
        expected = weight + static_cast<std::size_t>(columns * kernel.depth) * element_bytes;
    }
    return parts;
}

/// Rounds the input of a launch's products, with the norm that begins it.
/// @param call     of the launch's first step
/// @param rounded  rows next to each other
template <class At>
void launch_rounding(const KernelLauncher& launcher, const Device& device, const KernelCall& call, BFloat16* rounded,
                     cudaStream_t stream) {
    using First = typename At::template KernelAt<At::launch.norms()>;
    constexpr Index rows = First::kernel.rows();
    if constexpr (At::launch.norms() == 1) {
        constexpr Index warps = block_threads / warp_size;
        launcher.launch(&norm_and_convert_kernel<typename At::template KernelAt<0>>,
                        {blocks_for(device, divide_rounding_up(rows, warps))}, stream, call, rounded);
    } else {
        constexpr auto depth = static_cast<int>(First::kernel.depth);
        launcher.launch(&convert_kernel<depth, First::is_aligned>,
                        {blocks_for(device, divide_rounding_up(rows * depth, Index{4} * block_threads))}, stream,
                        call.input, call.report, First::kernel.input_stride, rows, rounded);
    }
}

}  // namespace totograph::cuda
