// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/runtime/next_begins.hpp>

// What a program launches, in words that are constants.

namespace totograph::cuda {

enum class LaunchKind : std::uint8_t {
    step,     ///< One step, on the whole device.
    segment,  ///< Consecutive small steps in one kernel, with a barrier between them.
    rows,     ///< Consecutive steps whose rows share nothing, in one kernel: each block has rows of its own. Small
              ///< steps between them that touch nothing of theirs have a block of their own.
    skinny,   ///< GEMMs of few rows and one input, and the norm before them, in one kernel (`takes_skinny`).
    gemm,     ///< Other GEMMs of one input, and the norm before them; their epilogues, or draws from them
              ///< (`select_gemm`).
};

/// How cuBLASLt can compute the whole epilogue of a GEMM: a bias is added, and a residual of the result's shape.
struct DirectEpilogue {
    bool is_possible = false;
    int bias = -1;  ///< Operands of the chain; -1 for none.
    int residual = -1;
    Index residual_stride = 0;

    friend constexpr bool operator==(const DirectEpilogue&, const DirectEpilogue&) = default;
};

/// Draws from mixtures whose parameters come right from GEMMs.
struct MixtureDraws {
    bool is_possible = false;
    /// The GEMMs of the degrees of freedom, the locations, the scales, and the logits of the weights.
    std::array<int, 4> gemms{-1, -1, -1, -1};

    friend constexpr bool operator==(const MixtureDraws&, const MixtureDraws&) = default;
};

/// Steps of one segment: their operands travel as kernel parameters, of which there are 32,764 bytes.
inline constexpr int segment_steps = 48;
/// Elements of a step that the threads of a block take in one turn, a few each.
inline constexpr Index block_elements = 1024;
/// Shared memory that a segment of one block has for intermediates: two such blocks find room on each multiprocessor,
/// with the parameters of up to 48 steps (17 KiB) and what sums over rows need (9 KiB).
inline constexpr std::size_t most_local_bytes = 24576;
/// Threads of a block, in place of `block_threads`, whose steps have many elements: four times as many loads are on
/// their way.
inline constexpr int wide_block_threads = 1024;
inline constexpr Index wide_block_elements = 4096;
/// Shared memory that a segment of one such block has.
inline constexpr std::size_t most_wide_local_bytes = 65536;
/// Blocks that run a larger segment: one cluster, where the device has them.
inline constexpr int cluster_blocks = 8;

/// Consecutive steps that are launched together.
struct Launch {
    LaunchKind kind = LaunchKind::step;
    int first = 0;
    int count = 1;
    bool has_reduction = false;  ///< Of GEMMs: the first step is their norm.
    Index rows = 0;              ///< Of `LaunchKind::rows`: how many each step has that is not aside.
    int blocks = 1;              ///< Of a segment: one, or a cluster of them.
    bool is_wide = false;        ///< Of several steps in one kernel: a block has `wide_block_threads`.
    /// Of a segment of one block: the shared memory for intermediates that nothing else reads.
    std::size_t local_bytes = 0;

    /// The steps in the order in which they run, counted from `first`: of several in one kernel, what waits for nothing
    /// comes first, then what waits for that, and so on; of other launches, as they were planned.
    std::array<int, segment_steps> order{};
    // What follows is in that order.
    std::array<int, segment_steps> kernels{};       ///< The kernel of each step.
    std::array<bool, segment_steps> stores_bf16{};  ///< Whether each stores bf16.
    std::array<bool, segment_steps> copies_bf16{};  ///< Whether each reads bf16, too, and stores it as it is.
    std::array<bool, segment_steps> aligned{};  ///< Whether all that each touches is aligned to 16 bytes, in any type.
    /// Of several steps in one kernel: whether a barrier comes before each; not where it touches nothing that those
    /// since the last barrier write, and writes nothing that they read.
    std::array<bool, segment_steps> barriers{};
    /// Of several steps in one kernel: whether each has nothing to do with the others, and runs on blocks of its own:
    /// of `LaunchKind::rows` on one, of a segment on as many as the others have.
    std::array<bool, segment_steps> aside{};
    GemmGroup gemm;  ///< The GEMMs of the launch: how they are computed, `select_gemm` says.
    std::array<int, most_gemms_together> scales{};  ///< Of skinny GEMMs: the operand that is the norm.
    /// Of skinny GEMMs: a bit for each operand that is a weight.
    std::array<unsigned, most_gemms_together> weights{};
    bool leaves_bf16 = false;        ///< Of a skinny GEMM: it stores its result as bf16, too, for a launch behind it.
    bool takes_bf16 = false;         ///< Of skinny GEMMs: their input is what the launch before left.
    bool query_is_bf16 = false;      ///< Of a lone attention: its queries are stored as bf16.
    bool keys_are_bf16 = false;      ///< Its keys and values are.
    bool prefix_is_early = false;    ///< Its prefix is written by no launch that may still run when it begins.
    bool input_moves = false;        ///< Of GEMMs: the input lies at a position.
    DirectEpilogue direct;           ///< Of a lone GEMM that is not skinny.
    bool residual_is_early = false;  ///< Its residual was written before the launch before this one.
    NextBegins next_begins = NextBegins::after_wait;  ///< When the launch behind this one can begin.
    MixtureDraws draws;  ///< Of GEMMs that are not skinny: the two last steps draw from them.
    int layer = -1;      ///< Of GEMMs: the transformer layer of the weights, if any.
    int layer_step = 0;  ///< As of `Node`, and
    int loop = 0;        ///< the loop whose layer it is.

    /// Whether the steps run one after the other in one kernel.
    [[nodiscard]] constexpr bool is_sequence() const { return kind == LaunchKind::segment || kind == LaunchKind::rows; }
    /// Steps before the first GEMM.
    [[nodiscard]] constexpr int norms() const { return has_reduction ? 1 : 0; }
    [[nodiscard]] constexpr int first_gemm() const { return first + norms(); }
    /// Steps after the last GEMM.
    [[nodiscard]] constexpr int others() const { return draws.is_possible ? 2 : 0; }
    [[nodiscard]] constexpr int gemms() const { return count - norms() - others(); }
    [[nodiscard]] constexpr int end_of_gemms() const { return first + count - others(); }

    friend constexpr bool operator==(const Launch&, const Launch&) = default;
};

}  // namespace totograph::cuda
