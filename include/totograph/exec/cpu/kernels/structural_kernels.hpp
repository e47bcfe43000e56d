// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <totograph/core/categorical.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/attention_steps.hpp>
#include <totograph/exec/cpu/kernels/fused_kernels.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/movement_kernels.hpp>
#include <totograph/exec/cpu/kernels/opaque_kernel.hpp>
#include <totograph/exec/cpu/kernels/operand_access.hpp>
#include <totograph/exec/cpu/kernels/student_t.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>

// Kernels of the ops that are not chains: scans, copies, sampling, and operations of the user; attention
// is in `attention_steps.hpp`.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace structural_detail {

template <class K>
void run_sample(const Kernel&, const KernelCall& call) noexcept {
    using S = RowExtents<K>;  // [batch, samples, variates, patches, patch_size]
    static_assert(operand<K>(0).shape[5] == 1 ||
                      (stride<K>(0, 5) == 1 && stride<K>(1, 5) == 1 && stride<K>(2, 5) == 1 && stride<K>(3, 5) == 1),
                  "totograph: sampling needs the parameters of the components to be contiguous in memory.");
    constexpr Index patch_size = S::shape[4];
    const auto* halves = static_cast<const std::int32_t*>(call.operands[4]);
    const std::uint64_t seed = static_cast<std::uint32_t>(halves[0]) |
                               static_cast<std::uint64_t>(static_cast<std::uint32_t>(halves[1])) << 32U;
    const UsedExtents used = used_extents<K>(call);
    parallel_for(*call.pool, used.series * used.samples * used.variates, [&](Index item, int) {
        const Index variate = item % used.variates;
        const Index sample = item / used.variates % used.samples;
        const Index series = item / used.variates / used.samples;
        for (Index patch = 0; patch < used.positions; ++patch) {
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

/// Ids of `[batch, samples, variates, positions]`.
template <class K>
void run_sample_categorical(const Kernel&, const KernelCall& call) noexcept {
    const auto* halves = static_cast<const std::int32_t*>(call.operands[3]);
    const std::uint64_t seed = static_cast<std::uint32_t>(halves[0]) |
                               static_cast<std::uint64_t>(static_cast<std::uint32_t>(halves[1])) << 32U;
    const CategoricalOptions options{
        static_cast<const std::int32_t*>(call.operands[1])[0], static_cast<const float*>(call.operands[2])[0],
        K::kernel.attributes[1] != 0,
        K::kernel.attributes[2] != 0 ? static_cast<const float*>(call.operands[6])[0] : 1.0F};
    const UsedExtents used = used_extents<K>(call);
    parallel_for(*call.pool, used.rows(), [&](Index item, int) {
        const Index position = item % used.positions;
        const Index variate = item / used.positions % used.variates;
        const Index sample = item / used.positions / used.variates % used.samples;
        const Index series = item / used.positions / used.variates / used.samples;
        const float* logits = rows_of<K>(call, 0, series, sample, variate) + position * stride<K>(0, 3);
        SampleKey key;
        key.seed = seed;
        key.series = static_cast<std::uint32_t>(series + integer_of<K>(call, 4, 0));
        key.variate = static_cast<std::uint32_t>(variate);
        key.sample = static_cast<std::uint32_t>(sample + integer_of<K>(call, 4, 1));
        key.time = static_cast<std::uint32_t>(integer_of<K>(call, 5, 0) + position);
        static_cast<std::int32_t*>(
            call.output)[series * K::kernel.output_strides[0] + sample * K::kernel.output_strides[1] +
                         variate * K::kernel.output_strides[2] + position * K::kernel.output_strides[3]] =
            sample_categorical(
                operand<K>(0).shape[4], [&](Index id) { return logits[id * stride<K>(0, 4)]; }, options,
                random_words(key).word[K::kernel.attributes[0]]);
    });
}

/// Scratch that a kernel needs for each thread.
template <class K>
constexpr std::size_t scratch_floats() {
    constexpr const Kernel& kernel = K::kernel;
    if constexpr (kernel.op == Op::attention) {
        return attention_scratch_floats<K>();
    } else {
        return 0;
    }
}

/// The code of a structural kernel.
template <class K>
constexpr KernelFunction structural_function() {
    constexpr Op op = K::kernel.op;
    static_assert(op_row(op).executors.fused_cpu,
                  "totograph: the fused CPU executor does not run an op that this model records.");
    if constexpr (op == Op::take) {
        return &movement_detail::take;
    } else if constexpr (op == Op::embedding) {
        return &movement_detail::embedding;
    } else if constexpr (op == Op::concatenate) {
        return &movement_detail::concatenate;
    } else if constexpr (op == Op::store) {
        return &movement_detail::store;
    } else if constexpr (op == Op::cumsum) {
        return &movement_detail::cumsum;
    } else if constexpr (op == Op::running_moments) {
        return &movement_detail::running_moments;
    } else if constexpr (op == Op::softmax) {
        return &movement_detail::softmax;
    } else if constexpr (op == Op::argmax) {
        return &movement_detail::argmax;
    } else if constexpr (op == Op::sort) {
        return &movement_detail::sort;
    } else if constexpr (op == Op::attention) {
        return &run_attention<K>;
    } else if constexpr (op == Op::sample_student_t_mixture) {
        return &run_sample<K>;
    } else if constexpr (op == Op::sample_categorical) {
        return &run_sample_categorical<K>;
    } else {
        static_assert(op == Op::opaque, "totograph: an op has no kernel here; add one, or say so in `op_table`.");
        return &run_opaque<K>;
    }
}

}  // namespace structural_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
