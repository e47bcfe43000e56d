// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/launch.hpp>
#include <totograph/exec/cuda/library_product.hpp>
#include <totograph/exec/cuda/lowering.hpp>
#include <totograph/exec/cuda/step_relations.hpp>
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
    for (int step = launch.first_product(); step < launch.end_of_products(); ++step) {
        const Kernel& kernel = lowering_detail::kernel_of<Program>(step);
        total += kernel.columns() * kernel.accumulators;
    }
    return total;
}

/// The product of a library launch: of `columns` columns, all members' or one's.
template <Precision precision, class Program>
ProductShape product_shape(const Launch& launch, Index columns, const ProductPointers& pointers) {
    constexpr bool is_bf16 = precision == Precision::bf16;
    const int last = launch.end_of_products() - 1;
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

}  // namespace totograph::cuda
