// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/exec/cpu/attention/attention.hpp>
#include <totograph/exec/cpu/kernels/fused_kernels.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/movement_kernels.hpp>
#include <totograph/exec/cpu/kernels/student_t.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Kernels of the ops that are not chains: attention, scans, copies, sampling, and operations of the user.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace structural_detail {

template <class K>
constexpr const Operand& operand(std::size_t which) {
    return K::kernel.operands[which];
}

template <class K>
constexpr Index stride(std::size_t which, std::size_t axis) {
    return operand<K>(which).strides[axis];
}

/// A stride that repeats an axis of extent 1.
template <class K>
constexpr Index repeating_stride(std::size_t which, std::size_t axis) {
    return operand<K>(which).shape[static_cast<int>(axis)] == 1 ? 0 : stride<K>(which, axis);
}

/// An i32 operand with one element, or one a series.
template <class K>
Index integer_of(const KernelCall& call, std::size_t which, Index series) {
    const auto* values = static_cast<const std::int32_t*>(call.operands[which]);
    return values[operand<K>(which).shape.size() == 1 ? 0 : series * stride<K>(which, 0)];
}

// --- Attention; rows are [series, sample, variate, position, width] --------------------------------------------------

template <class K>
struct AttentionSizes {
    static constexpr const Shape& shape = K::kernel.iteration;
    static constexpr Index series = shape[0];
    static constexpr Index samples = shape[1];
    static constexpr Index variates = shape[2];
    static constexpr Index positions = shape[3];
    static constexpr Index heads = K::kernel.attributes[0];
    static constexpr Index head_dim = shape[4] / heads;
};

template <class K>
const float* rows_of(const KernelCall& call, std::size_t which, Index series, Index sample, Index variate) {
    return static_cast<const float*>(call.operands[which]) + series * stride<K>(which, 0) +
           sample * repeating_stride<K>(which, 1) + variate * stride<K>(which, 2);
}

template <class K>
float* output_rows(const KernelCall& call, Index series, Index sample, Index variate) {
    return static_cast<float*>(call.output) + series * K::kernel.output_strides[0] +
           sample * K::kernel.output_strides[1] + variate * K::kernel.output_strides[2];
}

template <class K>
constexpr bool has_contiguous_widths(std::size_t tensors) {
    for (std::size_t i = 0; i < tensors; ++i) {
        if (operand<K>(i).shape.rank == 5 && stride<K>(i, 4) != 1) {
            return false;
        }
    }
    return true;
}

template <class K>
void run_causal_attention(const Kernel&, const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    static_assert(has_contiguous_widths<K>(3), "totograph: attention needs heads that are contiguous in memory.");
    parallel_for(*call.pool, S::series * S::samples * S::variates * S::heads, [&](Index item, int thread) {
        const Index head = item % S::heads;
        const Index variate = item / S::heads % S::variates;
        const Index sample = item / S::heads / S::variates % S::samples;
        const Index series = item / S::heads / S::variates / S::samples;
        prefill({.query = rows_of<K>(call, 0, series, sample, variate),
                 .key = rows_of<K>(call, 1, series, sample, variate),
                 .value = rows_of<K>(call, 2, series, sample, variate),
                 .out = output_rows<K>(call, series, sample, variate),
                 .query_stride = stride<K>(0, 3),
                 .key_stride = stride<K>(1, 3),
                 .value_stride = stride<K>(2, 3),
                 .out_stride = K::kernel.output_strides[3],
                 .head = head,
                 .head_dim = S::head_dim,
                 .positions = S::positions,
                 .valid = bounded_position(integer_of<K>(call, 3, series), S::positions)},
                call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

/// Queries that one work item of a shared prefix takes: few enough to spread, many enough to share what is prepared.
inline constexpr Index queries_per_item = 64;

template <class K>
void run_cached_attention(const Kernel&, const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    static_assert(has_contiguous_widths<K>(6), "totograph: attention needs heads that are contiguous in memory.");
    static_assert((operand<K>(4).shape[1] == 1 || stride<K>(4, 1) == stride<K>(5, 1)) &&
                      (operand<K>(4).shape[3] == 1 || stride<K>(4, 3) == stride<K>(5, 3)),
                  "totograph: keys and values of a suffix must lie in memory in the same way.");
    constexpr bool shared = operand<K>(1).shape[1] == 1;
    constexpr Index together = shared ? std::min(S::samples, queries_per_item) : 1;
    constexpr Index blocks = divide_rounding_up(S::samples, together);
    constexpr Index prefix_capacity = operand<K>(1).shape[3];
    constexpr Index suffix_capacity = operand<K>(4).shape[3];
    for (Index series = 0; series < S::series; ++series) {  // on one thread: what follows runs on many
        (void)call.bounded(integer_of<K>(call, 3, series), prefix_capacity);
    }
    const Index suffix_length = call.bounded(integer_of<K>(call, 6, 0), suffix_capacity);
    parallel_for(*call.pool, S::series * S::variates * S::heads * blocks, [&](Index item, int thread) {
        const Index head = item % S::heads;
        const Index variate = item / S::heads % S::variates;
        const Index first = item / S::heads / S::variates % blocks * together;
        const Index series = item / S::heads / S::variates / blocks;
        decode({.query = rows_of<K>(call, 0, series, first, variate),
                .prefix_key = rows_of<K>(call, 1, series, first, variate),
                .prefix_value = rows_of<K>(call, 2, series, first, variate),
                .suffix_key = rows_of<K>(call, 4, series, first, variate),
                .suffix_value = rows_of<K>(call, 5, series, first, variate),
                .out = output_rows<K>(call, series, first, variate),
                .query_stride = stride<K>(0, 1),
                .prefix_key_stride = stride<K>(1, 3),
                .prefix_value_stride = stride<K>(2, 3),
                .suffix_query_stride = stride<K>(4, 1),
                .suffix_stride = stride<K>(4, 3),
                .out_stride = K::kernel.output_strides[1],
                .head = head,
                .head_dim = S::head_dim,
                .queries = std::min(together, S::samples - first),
                .prefix_length = bounded_position(integer_of<K>(call, 3, series), prefix_capacity),
                .suffix_length = suffix_length},
               call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

template <class K>
void run_variate_attention(const Kernel&, const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    static_assert(has_contiguous_widths<K>(3), "totograph: attention needs heads that are contiguous in memory.");
    parallel_for(*call.pool, S::series * S::samples * S::positions * S::heads, [&](Index item, int thread) {
        const Index head = item % S::heads;
        const Index position = item / S::heads % S::positions;
        const Index sample = item / S::heads / S::positions % S::samples;
        const Index series = item / S::heads / S::positions / S::samples;
        across_variates({.query = rows_of<K>(call, 0, series, sample, 0) + position * stride<K>(0, 3),
                         .key = rows_of<K>(call, 1, series, sample, 0) + position * stride<K>(1, 3),
                         .value = rows_of<K>(call, 2, series, sample, 0) + position * stride<K>(2, 3),
                         .group = static_cast<const std::int32_t*>(call.operands[3]) + series * stride<K>(3, 0) +
                                  position * stride<K>(3, 2),
                         .out = output_rows<K>(call, series, sample, 0) + position * K::kernel.output_strides[3],
                         .query_stride = stride<K>(0, 2),
                         .key_stride = stride<K>(1, 2),
                         .value_stride = stride<K>(2, 2),
                         .group_stride = stride<K>(3, 1),
                         .out_stride = K::kernel.output_strides[2],
                         .head = head,
                         .head_dim = S::head_dim,
                         .variates = S::variates,
                         .valid = S::variates},
                        call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

template <class K>
void run_sample(const Kernel&, const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;  // [series, samples, variates, patches, patch_size]
    static_assert(operand<K>(0).shape[5] == 1 ||
                      (stride<K>(0, 5) == 1 && stride<K>(1, 5) == 1 && stride<K>(2, 5) == 1 && stride<K>(3, 5) == 1),
                  "totograph: sampling needs the parameters of the components to be contiguous in memory.");
    constexpr Index patch_size = S::shape[4];
    const auto* halves = static_cast<const std::int32_t*>(call.operands[4]);
    const std::uint64_t seed = static_cast<std::uint32_t>(halves[0]) |
                               static_cast<std::uint64_t>(static_cast<std::uint32_t>(halves[1])) << 32U;
    parallel_for(*call.pool, S::series * S::samples * S::variates, [&](Index item, int) {
        const Index variate = item % S::variates;
        const Index sample = item / S::variates % S::samples;
        const Index series = item / S::variates / S::samples;
        for (Index patch = 0; patch < S::positions; ++patch) {
            const auto parameter = [&](std::size_t which) {
                return rows_of<K>(call, which, series, sample, variate) + patch * stride<K>(which, 3);
            };
            StudentTMixtureArguments arguments;
            arguments.df = parameter(0);
            arguments.loc = parameter(1);
            arguments.scale = parameter(2);
            arguments.probabilities = parameter(3);
            arguments.out = output_rows<K>(call, series, sample, variate) + patch * K::kernel.output_strides[3];
            arguments.df_stride = stride<K>(0, 4);
            arguments.loc_stride = stride<K>(1, 4);
            arguments.scale_stride = stride<K>(2, 4);
            arguments.probabilities_stride = stride<K>(3, 4);
            arguments.components = operand<K>(1).shape[5];
            arguments.times = patch_size;
            arguments.key.seed = seed;
            arguments.key.series = static_cast<std::uint32_t>(series + integer_of<K>(call, 5, 0));
            arguments.key.variate = static_cast<std::uint32_t>(variate);
            arguments.key.sample = static_cast<std::uint32_t>(sample + integer_of<K>(call, 5, 1));
            arguments.key.time = static_cast<std::uint32_t>((integer_of<K>(call, 6, 0) + patch) * patch_size);
            sample_student_t_mixture(arguments);
        }
    });
}

// --- Operations of the user ------------------------------------------------------------------------------------------

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

template <class K>
void run_opaque(const Kernel&, const KernelCall& call) noexcept {
    static_assert(operands_are_contiguous<K>(),
                  "totograph: an opaque operation reads contiguous tensors; slice or permute after it instead.");
    using Operation = typename FindOperation<typename K::Operations, K::kernel.custom>::type;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        Operation::run(
            TensorView<float, ExtentsOf<OutputShape<K>>>(static_cast<float*>(call.output)),
            TensorView<const float, ExtentsOf<OperandShape<K, i>>>(static_cast<const float*>(call.operands[i]))...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(K::kernel.operand_count)>());
}

/// Scratch that a kernel needs for each thread.
template <class K>
constexpr std::size_t scratch_floats() {
    constexpr const Kernel& kernel = K::kernel;
    if constexpr (kernel.op == Op::causal_attention) {
        return prefill_scratch_floats(AttentionSizes<K>::positions, AttentionSizes<K>::head_dim);
    } else if constexpr (kernel.op == Op::cached_attention) {
        return decode_scratch_floats(operand<K>(1).shape[3], operand<K>(4).shape[3], AttentionSizes<K>::head_dim);
    } else if constexpr (kernel.op == Op::variate_attention) {
        return across_variates_scratch_floats(AttentionSizes<K>::variates, AttentionSizes<K>::head_dim);
    } else {
        return 0;
    }
}

/// The code of a structural kernel.
template <class K>
constexpr KernelFunction structural_function() {
    constexpr Op op = K::kernel.op;
    if constexpr (op == Op::take) {
        return &movement_detail::take;
    } else if constexpr (op == Op::concatenate) {
        return &movement_detail::concatenate;
    } else if constexpr (op == Op::store) {
        return &movement_detail::store;
    } else if constexpr (op == Op::cumsum) {
        static_assert(K::kernel.dtype != DType::i32, "totograph: a running sum is f32 or f64; cast before.");
        return &movement_detail::cumsum;
    } else if constexpr (op == Op::softmax) {
        static_assert(K::kernel.dtype == DType::f32, "totograph: softmax is f32; cast before.");
        return &movement_detail::softmax;
    } else if constexpr (op == Op::causal_attention) {
        return &run_causal_attention<K>;
    } else if constexpr (op == Op::cached_attention) {
        return &run_cached_attention<K>;
    } else if constexpr (op == Op::variate_attention) {
        return &run_variate_attention<K>;
    } else if constexpr (op == Op::sample_student_t_mixture) {
        return &run_sample<K>;
    } else {
        static_assert(op == Op::opaque,
                      "totograph: the fused CPU executor has no kernel for an op that this model records.");
        return &run_opaque<K>;
    }
}

}  // namespace structural_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
