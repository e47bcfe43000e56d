// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/operand_access.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/record/custom.hpp>

// Kernels that are opaque operations of the user.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace structural_detail {

/// A shape value as a type.
template <class Source, class Axes>
struct ExtentsOfShape;
template <class Source, std::size_t... axis>
struct ExtentsOfShape<Source, std::index_sequence<axis...>> {
    using type = Extents<Source::shape.extents[axis]...>;
};

template <class Source>
using ExtentsOf =
    typename ExtentsOfShape<Source, std::make_index_sequence<static_cast<std::size_t>(Source::shape.rank)>>::type;

/// The C++ type of a dtype that graphs compute in.
template <DType dtype>
using NumberOf =
    std::conditional_t<dtype == DType::f32, float, std::conditional_t<dtype == DType::f64, double, std::int32_t>>;

template <class K, std::size_t which>
struct OperandShape {
    static constexpr Shape shape = operand<K>(which).shape;
};
template <class K>
struct OutputShape {
    static constexpr Shape shape = K::kernel.iteration;
};

template <class K>
constexpr bool operands_are_contiguous() {
    for (std::size_t i = 0; i < static_cast<std::size_t>(K::kernel.operand_count); ++i) {
        const Shape& shape = operand<K>(i).shape;
        const Strides expected = contiguous_strides(shape);
        for (int axis = 0; axis < shape.rank; ++axis) {
            const auto place = static_cast<std::size_t>(axis);
            if (shape[axis] != 1 && operand<K>(i).strides[place] != expected[place]) {
                return false;
            }
        }
    }
    return true;
}

/// Runs an operation of the user, or says what it lacks.
template <class Operation, class Output, class... Inputs>
void run_operation(Output output, Inputs... inputs) noexcept {
    constexpr bool can_run = requires {
        Operation::run(output, inputs...);
    };
    static_assert(
        can_run,
        "totograph: an opaque operation has `template <class Output, class... Inputs> static void run(Output "
        "output, Inputs... inputs) noexcept`, which takes a view of its output and one of each tensor that it "
        "is applied to.");
    if constexpr (can_run) {
        Operation::run(output, inputs...);
    }
}

template <class K>
void run_opaque(const Kernel&, const KernelCall& call) noexcept {
    static_assert(operands_are_contiguous<K>(),
                  "totograph: an opaque operation reads contiguous tensors; slice or permute after it instead.");
    using Operation = typename FindOperation<typename K::Operations, K::kernel.custom>::type;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        run_operation<Operation>(TensorView<NumberOf<K::kernel.dtype>, ExtentsOf<OutputShape<K>>>(
                                     static_cast<NumberOf<K::kernel.dtype>*>(call.output)),
                                 TensorView<const NumberOf<operand<K>(i).dtype>, ExtentsOf<OperandShape<K, i>>>(
                                     static_cast<const NumberOf<operand<K>(i).dtype>*>(call.operands[i]))...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(K::kernel.operand_count)>());
}

}  // namespace structural_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
