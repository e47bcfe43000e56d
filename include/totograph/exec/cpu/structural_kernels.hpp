// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>
#include <totograph/exec/cpu/attention.hpp>
#include <totograph/exec/cpu/fused_kernels.hpp>
#include <totograph/exec/cpu/kernel_call.hpp>
#include <totograph/exec/cpu/student_t.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/custom.hpp>
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

/// Calls `copy_row(index over all axes but the last)` for each row of a shape.
template <class Visit>
void for_each_row(const Shape& shape, Visit&& visit) {
    std::array<Index, max_rank> index{};
    const Index rows = shape.rank == 0 ? 1 : shape.rows();
    for (Index row = 0; row < rows; ++row) {
        visit(index);
        for (int axis = shape.rank - 2; axis >= 0; --axis) {
            auto& at = index[static_cast<std::size_t>(axis)];
            if (++at < shape[axis]) {
                break;
            }
            at = 0;
        }
    }
}

inline Index dot(const std::array<Index, max_rank>& index, const Strides& strides, int rank) {
    Index offset = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
        offset += index[axis] * strides[axis];
    }
    return offset;
}

/// Copies `count` elements of `size` bytes with strides.
template <std::size_t size>
void copy_elements(const std::byte* from, Index from_stride, std::byte* to, Index to_stride, Index count) {
    if (from_stride == 1 && to_stride == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(count) * size);
        return;
    }
    for (Index i = 0; i < count; ++i) {
        std::memcpy(to + static_cast<std::size_t>(i * to_stride) * size,
                    from + static_cast<std::size_t>(i * from_stride) * size, size);
    }
}

template <class K>
void run_take(const KernelCall& call) noexcept {
    constexpr const Shape& shape = K::kernel.iteration;
    constexpr std::size_t size = size_in_bytes(K::kernel.dtype);
    constexpr auto axis = static_cast<std::size_t>(K::kernel.attributes[0]);
    Strides strides = operand<K>(0).strides;
    const Index step = strides[axis];
    strides[axis] = 0;
    for_each_row(shape, [&](const auto& index) {
        const Index from = dot(index, strides, shape.rank - 1) + step * integer_of<K>(call, 1, index[0]);
        copy_elements<size>(static_cast<const std::byte*>(call.operands[0]) + static_cast<std::size_t>(from) * size,
                            strides[static_cast<std::size_t>(shape.rank - 1)],
                            static_cast<std::byte*>(call.output) +
                                static_cast<std::size_t>(dot(index, K::kernel.output_strides, shape.rank - 1)) * size,
                            1, shape[-1]);
    });
}

template <class K, std::size_t which>
void concatenate_one(const KernelCall& call, Index begin) noexcept {
    constexpr const Shape& shape = operand<K>(which).shape;
    constexpr std::size_t size = size_in_bytes(K::kernel.dtype);
    constexpr auto last = static_cast<std::size_t>(shape.rank - 1);
    const Index offset = begin * K::kernel.output_strides[static_cast<std::size_t>(K::kernel.attributes[0])];
    for_each_row(shape, [&](const auto& index) {
        const Index from = dot(index, operand<K>(which).strides, shape.rank - 1);
        const Index to = offset + dot(index, K::kernel.output_strides, shape.rank - 1);
        copy_elements<size>(static_cast<const std::byte*>(call.operands[which]) + static_cast<std::size_t>(from) * size,
                            operand<K>(which).strides[last],
                            static_cast<std::byte*>(call.output) + static_cast<std::size_t>(to) * size,
                            K::kernel.output_strides[last], shape[-1]);
    });
}

template <class K>
void run_concatenate(const KernelCall& call) noexcept {
    concatenate_one<K, 0>(call, 0);
    concatenate_one<K, 1>(call, operand<K>(0).shape[static_cast<int>(K::kernel.attributes[0])]);
}

template <class K>
void run_store(const KernelCall& call) noexcept {
    constexpr const Shape& shape = K::kernel.iteration;
    constexpr std::size_t size = size_in_bytes(K::kernel.dtype);
    constexpr auto axis = static_cast<std::size_t>(K::kernel.attributes[0]);
    constexpr Strides value_strides =
        totograph::detail::broadcast_strides(operand<K>(0).shape, operand<K>(0).strides, shape);
    constexpr auto last = static_cast<std::size_t>(shape.rank == 0 ? 0 : shape.rank - 1);
    for_each_row(shape, [&](const auto& index) {
        Index position = K::kernel.attributes[1];
        if constexpr (K::kernel.operand_count == 2) {
            position = integer_of<K>(call, 1, index[0]);
        }
        const Index from = dot(index, value_strides, shape.rank - 1);
        const Index to = dot(index, K::kernel.output_strides, shape.rank - 1) +
                         (shape.rank == 0 ? 0 : position * K::kernel.output_strides[axis]);
        copy_elements<size>(static_cast<const std::byte*>(call.operands[0]) + static_cast<std::size_t>(from) * size,
                            value_strides[last],
                            static_cast<std::byte*>(call.output) + static_cast<std::size_t>(to) * size,
                            K::kernel.output_strides[last], shape.rank == 0 ? 1 : shape[-1]);
    });
}

template <class Visit>
void parallel_rows_of_shape(const KernelCall& call, const Shape& shape, Visit&& visit) {
    const Index columns = shape.rank == 0 ? 1 : shape[-1];
    const Index rows = shape.size() / columns;
    const Index rows_per_chunk = std::max<Index>(1, elements_per_chunk / columns);
    parallel_for(*call.pool, divide_rounding_up(rows, rows_per_chunk), [&](Index chunk, int) {
        for (Index row = chunk * rows_per_chunk; row < std::min(rows, (chunk + 1) * rows_per_chunk); ++row) {
            std::array<Index, max_rank> index{};
            Index left = row;
            for (int axis = shape.rank - 2; axis >= 0; --axis) {
                index[static_cast<std::size_t>(axis)] = left % shape[axis];
                left /= shape[axis];
            }
            visit(index);
        }
    });
}

/// Calls `run(row offset of the operand, row offset of the output)` for each row of the last axis.
template <class K, class Run>
void for_each_operand_row(const KernelCall& call, Run&& run) {
    constexpr const Shape& shape = K::kernel.iteration;
    parallel_rows_of_shape(call, shape, [&](const auto& index) {
        run(dot(index, operand<K>(0).strides, shape.rank - 1), dot(index, K::kernel.output_strides, shape.rank - 1));
    });
}

template <class K, class Element>
void run_scan_of(const KernelCall& call) noexcept {
    constexpr Index step = operand<K>(0).strides[static_cast<std::size_t>(K::kernel.iteration.rank - 1)];
    for_each_operand_row<K>(call, [&](Index from, Index to) {
        const Element* in = static_cast<const Element*>(call.operands[0]) + from;
        Element* out = static_cast<Element*>(call.output) + to;
        double total = 0;
        for (Index column = 0; column < K::kernel.iteration[-1]; ++column) {
            total += static_cast<double>(in[column * step]);
            out[column] = static_cast<Element>(total);
        }
    });
}

template <class K>
void run_softmax(const KernelCall& call) noexcept {
    constexpr Index columns = K::kernel.iteration[-1];
    constexpr Index step = operand<K>(0).strides[static_cast<std::size_t>(K::kernel.iteration.rank - 1)];
    for_each_operand_row<K>(call, [&](Index from, Index to) {
        const float* in = static_cast<const float*>(call.operands[0]) + from;
        float* out = static_cast<float*>(call.output) + to;
        float largest = in[0];
        for (Index column = 1; column < columns; ++column) {
            largest = std::max(largest, in[column * step]);
        }
        Vector total;
        for (Index column = 0; column < columns; column += packet_size) {
            const Index count = std::min(packet_size, columns - column);
            alignas(sizeof(Packet)) float lanes[packet_size];
            std::fill_n(lanes, packet_size, -std::numeric_limits<float>::infinity());
            for (Index lane = 0; lane < count; ++lane) {
                lanes[lane] = in[(column + lane) * step] - largest;
            }
            store_aligned(lanes, exp(Vector(load_aligned(lanes))).lanes);
            std::fill(lanes + count, lanes + packet_size, 0.0F);
            total = total + Vector(load_aligned(lanes));
            std::copy_n(lanes, count, out + column);
        }
        const float scale = 1.0F / sum_of_lanes(total.lanes);
        for (Index column = 0; column < columns; ++column) {
            out[column] *= scale;
        }
    });
}

// --- Attention; rows are [series, sample, variate, position, width]
// ----------------------------------------------------

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
void run_causal_attention(const KernelCall& call) noexcept {
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
                 .valid = std::min(S::positions, integer_of<K>(call, 3, series))},
                call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

/// Queries that one work item of a shared prefix takes: few enough to spread, many enough to share what is prepared.
inline constexpr Index queries_per_item = 64;

template <class K>
void run_cached_attention(const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;
    static_assert(has_contiguous_widths<K>(6), "totograph: attention needs heads that are contiguous in memory.");
    constexpr bool shared = operand<K>(1).shape[1] == 1;
    constexpr Index together = shared ? std::min(S::samples, queries_per_item) : 1;
    constexpr Index blocks = divide_rounding_up(S::samples, together);
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
                .prefix_length = integer_of<K>(call, 3, series),
                .suffix_length = integer_of<K>(call, 6, 0)},
               call.scratch + static_cast<std::size_t>(thread) * call.scratch_floats);
    });
}

template <class K>
void run_variate_attention(const KernelCall& call) noexcept {
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
void run_sample(const KernelCall& call) noexcept {
    using S = AttentionSizes<K>;  // [series, samples, variates, patches, patch_size]
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
            arguments.key.sample = static_cast<std::uint32_t>(sample);
            arguments.key.time = static_cast<std::uint32_t>((integer_of<K>(call, 6, 0) + patch) * patch_size);
            sample_student_t_mixture(arguments);
        }
    });
}

// --- Operations of the user
// --------------------------------------------------------------------------------------------

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
void run_opaque(const KernelCall& call) noexcept {
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
    if constexpr (kernel.kind != KernelKind::structural) {
        return 0;
    } else if constexpr (kernel.op == Op::causal_attention) {
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
        return &run_take<K>;
    } else if constexpr (op == Op::concatenate) {
        return &run_concatenate<K>;
    } else if constexpr (op == Op::store) {
        return &run_store<K>;
    } else if constexpr (op == Op::cumulative_sum) {
        static_assert(K::kernel.dtype != DType::i32, "totograph: a running sum is f32 or f64; cast before.");
        if constexpr (K::kernel.dtype == DType::f64) {
            return &run_scan_of<K, double>;
        } else {
            return &run_scan_of<K, float>;
        }
    } else if constexpr (op == Op::softmax) {
        static_assert(K::kernel.dtype == DType::f32, "totograph: softmax is f32; cast before.");
        return &run_softmax<K>;
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
