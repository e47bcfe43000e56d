// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/kernel_facts.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op_table.hpp>

// GEMMs of one launch, as numbers: what a kernel for them is selected by. Nothing here needs CUDA.

namespace totograph::cuda {

/// GEMMs of one launch, at most.
inline constexpr int most_gemms_together = 8;

/// What of the next launch can run with a GEMM: that one begins by storing all that the GEMM makes as bf16, if weights
/// are.
enum class TailFusion : std::uint8_t {
    none,
    bf16,  ///< As it is.
    norm,  ///< With a norm of its rows, or what that adds up.
};

/// What runs on the accumulators of one GEMM before they are stored.
struct GemmEpilogue {
    /// Few instructions and operands, of which few are tables.
    bool is_short = false;
    int sigmoids = 0;
    bool stores_bf16 = false;
    /// Operands of rows and columns that are small beside the result, such as the cosines of a rotary embedding, which
    /// are those of all heads.
    int tables = 0;
    /// Operands of rows and columns that are not: as large as the result, such as a residual.
    int large = 0;

    friend constexpr bool operator==(const GemmEpilogue&, const GemmEpilogue&) = default;
};

/// One GEMM of a group.
struct GemmMember {
    Index n = 0;             ///< Columns of the result.
    int accumulators = 1;    ///< 2 where the epilogue takes two GEMMs of one input, such as a gate and what it scales.
    bool is_packed = false;  ///< A thread of the epilogue can take eight columns at a time.
    GemmEpilogue epilogue;

    /// Rows of its weights.
    [[nodiscard]] constexpr Index weight_rows() const { return n * accumulators; }

    friend constexpr bool operator==(const GemmMember&, const GemmMember&) = default;
};

/// GEMMs of one input that are launched together: C[i] = epilogue(A W[i]^T), A of `m` rows and `k` columns.
struct GemmGroup {
    Index m = 0;
    Index k = 0;
    int count = 0;
    std::array<GemmMember, most_gemms_together> members{};
    bool is_bf16 = false;          ///< Weights are bf16, and so is A when it is multiplied.
    bool input_is_bf16 = false;    ///< A is stored as bf16 already.
    bool input_is_dense = false;   ///< Rows of A lie next to each other.
    bool is_aligned = false;       ///< All rows begin at multiples of 16 bytes.
    bool fits_in_32_bits = false;  ///< All offsets of elements do.
    bool is_skinny = false;        ///< Lowering put it together for the skinny kernels.
    /// The epilogue is a bias or a residual or both, which cuBLASLt adds itself.
    bool is_direct = false;
    bool adds_bias = false;  ///< That epilogue has a bias.
    /// Mixtures are drawn from the accumulators.
    bool feeds_draws = false;
    TailFusion tail = TailFusion::none;  ///< What can run behind it.

    [[nodiscard]] constexpr Index weight_rows() const {
        Index total = 0;
        for (int i = 0; i < count; ++i) {
            total += members[static_cast<std::size_t>(i)].weight_rows();
        }
        return total;
    }
    /// Whether `holds(member)` for each GEMM of the group.
    template <class Holds>
    [[nodiscard]] constexpr bool all(const Holds& holds) const {
        return std::all_of(members.begin(), members.begin() + count, holds);
    }

    friend constexpr bool operator==(const GemmGroup&, const GemmGroup&) = default;
};

/// Whether an operand of a GEMM's chain is small beside the result: caches keep it.
template <class AnyKernel>
constexpr bool is_table(const AnyKernel& kernel, int operand) {
    constexpr Index least_repeats = 4;
    Index elements = 1;
    for (int axis = 0; axis < kernel.iteration.rank; ++axis) {
        const bool moves =
            kernel.operands[static_cast<std::size_t>(operand)].strides[static_cast<std::size_t>(axis)] != 0;
        elements *= moves ? kernel.iteration[axis] : 1;
    }
    return elements * least_repeats <= kernel.iteration.size();
}

/// The epilogue of a GEMM of a plan.
template <class AnyKernel>
constexpr GemmEpilogue epilogue_of(const AnyKernel& kernel, bool stores_bf16) {
    constexpr int most_operands = 6;
    constexpr int most_instructions = 16;
    constexpr int most_tables = 2;
    const auto& chain = kernel.chain;
    const unsigned repeated = operands_that_repeat(kernel, 0, kernel.row_rank) |
                              operands_that_repeat(kernel, kernel.row_rank, kernel.iteration.rank);
    GemmEpilogue result;
    result.stores_bf16 = stores_bf16;
    for (int i = 0; i < kernel.operand_count; ++i) {
        if ((repeated >> i & 1U) == 0) {
            result.tables += is_table(kernel, i) ? 1 : 0;
            result.large += is_table(kernel, i) ? 0 : 1;
        }
    }
    result.is_short = chain.count > 0 && chain.count <= most_instructions && kernel.operand_count <= most_operands &&
                      result.tables <= most_tables;
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        const ChainCost cost = op_row(chain.instructions[i].op).cost;
        result.is_short = result.is_short && cost != ChainCost::function;
        result.sigmoids += cost == ChainCost::sigmoid ? 1 : 0;
    }
    return result;
}

/// A GEMM of a plan.
template <class AnyKernel>
constexpr GemmMember member_of(const AnyKernel& kernel, bool stores_bf16) {
    bool has_f64 = kernel.dtype == DType::f64;
    for (int i = 0; i < kernel.operand_count; ++i) {
        has_f64 = has_f64 || kernel.operands[static_cast<std::size_t>(i)].dtype == DType::f64;
    }
    return {kernel.columns(), kernel.accumulators, kernel.iteration[-1] % 8 == 0 && !has_f64,
            epilogue_of(kernel, stores_bf16)};
}

}  // namespace totograph::cuda
