// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::detail {

/// How many inputs an instruction has: as many as any node of its operation.
int argument_count(const Instruction& instruction, std::span<const Node> nodes);

inline std::string op_text(Op op, const CustomOperation* custom) {
    return std::string(custom != nullptr ? custom->name : name(op));
}

/// The instructions of a chain, one a line: `%3 = multiply %0 %1`.
std::string instructions_text(const Chain& chain, std::span<const Node> nodes, std::string_view indent);

/// What a value that a chain is given is to a reader.
enum class GivenKind {
    plain,
    result,        ///< Of a GEMM or a reduction.
    model_weight,  ///< From the checkpoint.
    row_factor,    ///< One value for each row of a GEMM.
    whole,         ///< As large as the result of a GEMM.
};

/// What a chain does in words: `bias`, `residual`, `rotary` where it is one of these, else the names of operations with
/// their constants. In the order in which they run; constants and repeats are not told again (`bias x2`).
class ChainWords {
public:
    ChainWords(const Chain& chain, std::vector<GivenKind> given, std::span<const Node> nodes);

    [[nodiscard]] std::vector<std::string> words() const;

private:
    [[nodiscard]] const Instruction& at(int place) const { return chain_.instructions.items[place]; }
    /// The instruction that makes a value; null for what the chain is given.
    [[nodiscard]] const Instruction* maker(int value) const {
        return value < chain_.given ? nullptr : &at(value - chain_.given);
    }
    [[nodiscard]] bool is_constant(int value) const {
        return maker(value) != nullptr && maker(value)->op == Op::constant;
    }
    [[nodiscard]] GivenKind kind_of(int value) const {
        return value < chain_.given ? given_[static_cast<std::size_t>(value)] : GivenKind::plain;
    }
    [[nodiscard]] bool starts_from_result() const {
        return std::find(given_.begin(), given_.end(), GivenKind::result) != given_.end();
    }

    /// x cosine + rotate_pairs(x) sine: four instructions that are one thing to a reader.
    void find_rotaries();

    /// The factor of `turned` that is a rotated factor of `plain`, or -1.
    [[nodiscard]] int find_rotated(const Instruction& plain, const Instruction& turned) const;

    [[nodiscard]] std::string words_of_instruction(int place) const;

    const Chain& chain_;
    std::vector<GivenKind> given_;
    std::span<const Node> nodes_;
    std::vector<bool> hidden_;
    std::vector<bool> is_rotary_;
    std::vector<std::pair<std::string, int>> counted_;
};

}  // namespace totograph::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/explain/impl/chain.hpp>
#endif
