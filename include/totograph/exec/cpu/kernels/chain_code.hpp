// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/custom.hpp>

// What the code of a chain depends on, as a type: its instructions, and how tensors lie along a row. Extents and
// strides are not in it, so that kernels of all programs which differ in those alone are one function.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// From one column of a tensor to the next.
enum class ColumnStep : std::uint8_t {
    none,   ///< The same element.
    one,    ///< The element beside it.
    other,  ///< Some elements on.
};

/// How the tensors of a chain lie along a row.
struct ColumnLayout {
    int rank = 0;  ///< Column axes: none, one or two.
    ColumnStep output = ColumnStep::none;
    std::array<ColumnStep, max_operands> operands{};
};

namespace chain_detail {

/// One number for each instruction, behind one for the rest: as template arguments they make short names.
struct Words {
    std::array<std::uint64_t, 1 + max_instructions> word{};
    std::size_t count = 0;
};

/// Numbers side by side in a word, from the lowest bits up.
class BitWriter {
public:
    constexpr void put(std::uint64_t value, unsigned bits) {
        word_ |= value << used_;
        used_ += bits;
    }
    [[nodiscard]] constexpr std::uint64_t word() const { return word_; }

private:
    std::uint64_t word_ = 0;
    unsigned used_ = 0;
};

class BitReader {
public:
    constexpr explicit BitReader(std::uint64_t word) : word_(word) {}
    constexpr int take(unsigned bits) {
        const std::uint64_t value = word_ & ((std::uint64_t{1} << bits) - 1);
        word_ >>= bits;
        return static_cast<int>(value);
    }
    [[nodiscard]] constexpr std::uint64_t rest() const { return word_; }

private:
    std::uint64_t word_;
};

inline constexpr unsigned value_bits = 6;  // of the number of a value: a chain has at most 2 + 12 + 32
static_assert(2 + max_operands + max_instructions <= 1 << value_bits);
inline constexpr unsigned op_bits = 8;
inline constexpr unsigned step_bits = 2;

constexpr ColumnStep column_step(const Kernel& kernel, const Strides& strides) {
    const int rank = kernel.iteration.rank;
    const Index stride = rank == kernel.row_rank ? 0 : strides[static_cast<std::size_t>(rank - 1)];
    return stride == 0 ? ColumnStep::none : stride == 1 ? ColumnStep::one : ColumnStep::other;
}

/// Of what operations of the user are described by, for `Operations`.
template <class Operations>
struct DescriptionsOf;
template <class... Operations>
struct DescriptionsOf<OperationSet<Operations...>> {
    static constexpr std::array<const CustomOperation*, sizeof...(Operations) + 1> value{
        &custom_operation<Operations>..., nullptr};
};

/// A chain of f32 of a kernel as words.
/// @param prologue  whether it is the chain before a reduction
template <class Operations>
constexpr Words words_of(const Kernel& kernel, bool prologue) {
    const Chain& chain = prologue ? kernel.prologue : kernel.chain;
    const int accumulators = prologue ? 0 : kernel.accumulators;
    const int column_rank = kernel.iteration.rank - kernel.row_rank;
    Words words;
    BitWriter head;
    head.put(static_cast<std::uint64_t>(chain.given), value_bits);
    head.put(static_cast<std::uint64_t>(accumulators), value_bits);
    head.put(static_cast<std::uint64_t>(column_rank), 3);
    // What comes of a prologue is reduced, and not stored.
    head.put(prologue ? 0 : static_cast<std::uint64_t>(column_step(kernel, kernel.output_strides)), step_bits);
    const Operand* operand = kernel.operands.data() + (prologue ? 0 : kernel.prologue_operands);
    for (int i = 0; i < chain.given - accumulators; ++i, ++operand) {
        head.put(static_cast<std::uint64_t>(column_step(kernel, operand->strides)), step_bits);
    }
    words.word[words.count++] = head.word();
    const Instruction* instruction = chain.instructions.data();
    for (int i = 0; i < chain.count; ++i, ++instruction) {
        BitWriter code;
        code.put(static_cast<std::uint64_t>(instruction->op), op_bits);
        for (const int argument : instruction->arguments) {
            code.put(static_cast<std::uint64_t>(argument), value_bits);
        }
        if (instruction->op == Op::constant) {
            code.put(std::bit_cast<std::uint32_t>(static_cast<float>(instruction->immediate)), 32);
        } else if (instruction->op == Op::custom_elementwise) {
            code.put(Operations::find(instruction->custom), 32);
        }
        words.word[words.count++] = code.word();
    }
    return words;
}

/// An instruction from its word.
template <class Operations>
constexpr Instruction instruction_of(std::uint64_t word) {
    BitReader code(word);
    Instruction instruction;
    instruction.op = static_cast<Op>(code.take(op_bits));
    for (int& argument : instruction.arguments) {
        argument = code.take(value_bits);
    }
    if (instruction.op == Op::constant) {
        instruction.immediate = double{std::bit_cast<float>(static_cast<std::uint32_t>(code.rest()))};
    } else if (instruction.op == Op::custom_elementwise) {
        instruction.custom = DescriptionsOf<Operations>::value[static_cast<std::size_t>(code.rest())];
    }
    return instruction;
}

constexpr ColumnLayout layout_of(BitReader& head, int operands) {
    ColumnLayout layout;
    layout.rank = head.take(3);
    layout.output = static_cast<ColumnStep>(head.take(step_bits));
    for (int i = 0; i < operands; ++i) {
        layout.operands[static_cast<std::size_t>(i)] = static_cast<ColumnStep>(head.take(step_bits));
    }
    return layout;
}

}  // namespace chain_detail

/// A chain of f32, from the words of `chain_detail::words_of`: what `run_chain` and the kernels read.
template <class OperationsType, std::uint64_t head, std::uint64_t... words>
struct ChainCode {
    using Operations = OperationsType;

    struct Content {
        int given = 0;
        int count = sizeof...(words);
        std::array<Instruction, sizeof...(words)> instructions{};
        int accumulators = 0;
        ColumnLayout layout;
    };
    static constexpr Content chain = [] {
        chain_detail::BitReader reader(head);
        Content content;
        content.given = reader.take(chain_detail::value_bits);
        content.accumulators = reader.take(chain_detail::value_bits);
        content.layout = chain_detail::layout_of(reader, content.given - content.accumulators);
        content.instructions = {chain_detail::instruction_of<Operations>(words)...};
        return content;
    }();
    static constexpr int accumulators = chain.accumulators;
    static constexpr ColumnLayout layout = chain.layout;
    /// How many operands the chain reads itself.
    static constexpr std::size_t operand_count = static_cast<std::size_t>(chain.given - accumulators);
    static constexpr std::size_t value_count = static_cast<std::size_t>(chain.given + chain.count);
    static_assert(layout.rank <= 2, "totograph: a kernel's columns have at most two axes.");
};

namespace chain_detail {

template <class K, bool prologue>
struct WordsOf {
    static constexpr Words words = words_of<typename K::Operations>(K::kernel, prologue);
    static constexpr bool is_custom = [] {
        bool found = false;
        for (std::size_t i = 1; i < words.count; ++i) {
            found = found || static_cast<Op>(BitReader(words.word[i]).take(op_bits)) == Op::custom_elementwise;
        }
        return found;
    }();
    // Where no operation of the user is called, all models share the code.
    using Operations = std::conditional_t<is_custom, typename K::Operations, OperationSet<>>;
};

template <class Words, class Places>
struct CodeOf;
template <class Words, std::size_t... i>
struct CodeOf<Words, std::index_sequence<i...>> {
    using type = ChainCode<typename Words::Operations, Words::words.word[i]...>;
};

template <class K, bool prologue>
using CodeOfKernel =
    typename CodeOf<WordsOf<K, prologue>, std::make_index_sequence<WordsOf<K, prologue>::words.count>>::type;

}  // namespace chain_detail

/// The chain that runs for each element of the result of a kernel.
template <class K>
using Epilogue = chain_detail::CodeOfKernel<K, false>;

/// The chain that runs before a reduction.
template <class K>
using Prologue = chain_detail::CodeOfKernel<K, true>;

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
