// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/graph/op.hpp>

// All that the library knows of each op, but for how to compute it: one row an op, in the order of `Op`. Whoever must
// tell ops apart looks here, or switches over all of them without `default`.

namespace totograph {

/// What kind of op it is: how it is planned, and how it is drawn.
enum class OpClass : std::uint8_t {
    leaf,         ///< Has no inputs.
    view,         ///< Tells where elements of its input are; needs a kernel only where they must move.
    movement,     ///< Copies elements.
    elementwise,  ///< An instruction of a chain.
    reduction,    ///< Of the last axis; takes chains before and after it.
    row,          ///< Of the last axis, with a kernel of its own.
    matmul,       ///< A GEMM.
    attention,
    random,
    effect,  ///< Writes into a state.
    custom,  ///< A kernel of the library's user.
};

/// The dtypes that the result of an op can have.
enum class OpDTypes : std::uint8_t {
    any,     ///< f32, f64 and i32.
    floats,  ///< f32 and f64.
    f32,
    i32,
};

/// How many operations an op does.
enum class OpWork : std::uint8_t {
    nothing,            ///< Moves elements, draws, or runs code of the user.
    each_element,       ///< `flops` for each element of its largest side: the input of what reduces, else the result.
    each_multiply_add,  ///< 2 for each element of the result and of the last axis of its first input.
    each_key,           ///< Of an attention: see `detail::attention_flops`.
};

/// The first axes of the result that can be cut into rows: an element then needs its own row of each input alone, and
/// of an embedding's table any.
enum class OpRows : std::uint8_t {
    unknown,          ///< None that are known of.
    all,              ///< All axes.
    all_but_last,     ///< All but the last.
    before_its_axis,  ///< Those before the axis that its first attribute names.
};

/// What an op costs inside of a chain on a GPU.
enum class ChainCost : std::uint8_t {
    instruction,  ///< About one instruction.
    sigmoid,      ///< One power of e and one quotient.
    function,     ///< More, or not measured.
};

/// Which executors run an op beside the eager one, which runs all of them.
struct Executors {
    bool fused_cpu = true;
    bool cuda = true;

    friend constexpr bool operator==(const Executors&, const Executors&) = default;
};

/// What is known of one op.
struct OpRow {
    Op op{};
    std::string_view name;
    OpClass kind = OpClass::leaf;
    int least_inputs = 0;
    int most_inputs = 0;
    OpDTypes dtypes = OpDTypes::any;
    OpWork work = OpWork::nothing;
    int flops = 0;                         ///< Of `OpWork::each_element`.
    OpRows rows = OpRows::unknown;         ///< Of an op with a kernel of its own.
    bool stands_alone = false;             ///< Is work enough to be launched alone.
    bool picks = false;                    ///< Reads as many elements of its first input as it has, not all of them.
    ChainCost cost = ChainCost::function;  ///< Of an instruction of a chain.
    Executors executors{};
};

/// Rows of ops that have most in common.
namespace op_rows {

constexpr OpRow leaf(Op op, std::string_view name, OpDTypes dtypes, Executors executors = {}) {
    return {.op = op, .name = name, .dtypes = dtypes, .cost = ChainCost::instruction, .executors = executors};
}
constexpr OpRow view(Op op, std::string_view name, bool picks = false) {
    return {.op = op, .name = name, .kind = OpClass::view, .least_inputs = 1, .most_inputs = 1, .picks = picks};
}
constexpr OpRow elementwise(Op op, std::string_view name, int inputs, ChainCost cost = ChainCost::function,
                            OpDTypes dtypes = OpDTypes::any) {
    return {.op = op,
            .name = name,
            .kind = OpClass::elementwise,
            .least_inputs = inputs,
            .most_inputs = inputs,
            .dtypes = dtypes,
            .work = OpWork::each_element,
            .flops = 1,
            .cost = cost};
}
/// A function of real numbers.
constexpr OpRow function(Op op, std::string_view name, ChainCost cost = ChainCost::function) {
    return elementwise(op, name, 1, cost, OpDTypes::floats);
}
/// Of the last axis.
constexpr OpRow reduction(Op op, std::string_view name, OpDTypes dtypes = OpDTypes::any) {
    return {.op = op,
            .name = name,
            .kind = OpClass::reduction,
            .least_inputs = 1,
            .most_inputs = 1,
            .dtypes = dtypes,
            .work = OpWork::each_element,
            .flops = 1};
}
inline constexpr Executors only_eager{.fused_cpu = false, .cuda = false};

}  // namespace op_rows

/// The table, indexed by `Op`.
inline constexpr std::array op_table{
    // Leaves are read, not run; what depends on weights alone is computed before the first run.
    op_rows::leaf(Op::weight, "weight", OpDTypes::f32),
    op_rows::leaf(Op::constant, "constant", OpDTypes::any),
    op_rows::leaf(Op::iota, "iota", OpDTypes::any),
    op_rows::leaf(Op::state, "state", OpDTypes::any),

    op_rows::view(Op::reshape, "reshape"),
    op_rows::view(Op::slice, "slice", true),
    op_rows::view(Op::permute, "permute"),
    op_rows::view(Op::expand, "expand"),
    OpRow{.op = Op::concatenate,
          .name = "concatenate",
          .kind = OpClass::movement,
          .least_inputs = 2,
          .most_inputs = 2,
          .rows = OpRows::before_its_axis},
    OpRow{.op = Op::take,
          .name = "take",
          .kind = OpClass::movement,
          .least_inputs = 2,
          .most_inputs = 2,
          .rows = OpRows::before_its_axis,
          .picks = true},
    OpRow{.op = Op::embedding,
          .name = "embedding",
          .kind = OpClass::movement,
          .least_inputs = 2,
          .most_inputs = 2,
          .dtypes = OpDTypes::f32,
          .rows = OpRows::all,
          .picks = true},

    op_rows::elementwise(Op::add, "add", 2, ChainCost::instruction),
    op_rows::elementwise(Op::subtract, "subtract", 2, ChainCost::instruction),
    op_rows::elementwise(Op::multiply, "multiply", 2, ChainCost::instruction),
    op_rows::elementwise(Op::divide, "divide", 2),  // of i32: see `arithmetic_detail::quotient`
    op_rows::elementwise(Op::maximum, "maximum", 2, ChainCost::instruction),
    op_rows::elementwise(Op::minimum, "minimum", 2, ChainCost::instruction),
    op_rows::elementwise(Op::negative, "negative", 1, ChainCost::instruction),
    op_rows::elementwise(Op::abs, "abs", 1, ChainCost::instruction),
    op_rows::elementwise(Op::floor, "floor", 1),
    op_rows::function(Op::exp, "exp"),
    op_rows::function(Op::log, "log"),
    op_rows::function(Op::sin, "sin"),
    op_rows::function(Op::cos, "cos"),
    op_rows::function(Op::sqrt, "sqrt"),
    op_rows::function(Op::rsqrt, "rsqrt"),
    op_rows::function(Op::sigmoid, "sigmoid", ChainCost::sigmoid),
    op_rows::function(Op::silu, "silu", ChainCost::sigmoid),
    op_rows::function(Op::softplus, "softplus"),
    op_rows::function(Op::tanh, "tanh"),
    op_rows::function(Op::sinh, "sinh"),
    op_rows::function(Op::asinh, "asinh"),
    op_rows::function(Op::erf, "erf"),
    op_rows::function(Op::gelu, "gelu"),
    op_rows::elementwise(Op::less, "less", 2, ChainCost::instruction),
    op_rows::elementwise(Op::equal, "equal", 2, ChainCost::instruction),
    op_rows::elementwise(Op::where, "where", 3, ChainCost::instruction),
    op_rows::elementwise(Op::cast, "cast", 1),
    op_rows::elementwise(Op::rotate_pairs, "rotate_pairs", 1, ChainCost::instruction, OpDTypes::f32),
    OpRow{.op = Op::custom_elementwise,
          .name = "custom_elementwise",
          .kind = OpClass::elementwise,
          .least_inputs = 1,
          .most_inputs = 3,
          .work = OpWork::each_element,
          .flops = 1},

    op_rows::reduction(Op::sum, "sum"),
    op_rows::reduction(Op::mean, "mean", OpDTypes::floats),
    op_rows::reduction(Op::amax, "amax"),
    OpRow{.op = Op::cumsum,
          .name = "cumsum",
          .kind = OpClass::row,
          .least_inputs = 1,
          .most_inputs = 1,
          .dtypes = OpDTypes::floats,
          .work = OpWork::each_element,
          .flops = 1,
          .rows = OpRows::all_but_last},
    OpRow{.op = Op::running_moments,
          .name = "running_moments",
          .kind = OpClass::row,
          .least_inputs = 1,
          .most_inputs = 5,
          .dtypes = OpDTypes::floats,
          .work = OpWork::each_element,
          .flops = 12,
          .rows = OpRows::before_its_axis},
    OpRow{.op = Op::softmax,
          .name = "softmax",
          .kind = OpClass::row,
          .least_inputs = 1,
          .most_inputs = 1,
          .dtypes = OpDTypes::f32,
          .work = OpWork::each_element,
          .flops = 5},
    OpRow{.op = Op::argmax,
          .name = "argmax",
          .kind = OpClass::row,
          .least_inputs = 1,
          .most_inputs = 1,
          .dtypes = OpDTypes::i32,
          .work = OpWork::each_element,
          .flops = 1,
          .rows = OpRows::all},
    OpRow{.op = Op::sort,
          .name = "sort",
          .kind = OpClass::row,
          .least_inputs = 1,
          .most_inputs = 1,
          .dtypes = OpDTypes::f32,
          .rows = OpRows::all_but_last},

    OpRow{.op = Op::linear,
          .name = "linear",
          .kind = OpClass::matmul,
          .least_inputs = 2,
          .most_inputs = 2,
          .dtypes = OpDTypes::f32,
          .work = OpWork::each_multiply_add,
          .stands_alone = true},
    OpRow{.op = Op::matmul,
          .name = "matmul",
          .kind = OpClass::matmul,
          .least_inputs = 2,
          .most_inputs = 2,
          .dtypes = OpDTypes::f32,
          .work = OpWork::each_multiply_add,
          .stands_alone = true,
          .executors = op_rows::only_eager},

    // What its inputs are, its description says.
    OpRow{.op = Op::attention,
          .name = "attention",
          .kind = OpClass::attention,
          .least_inputs = 3,
          .most_inputs = 9,
          .dtypes = OpDTypes::f32,
          .work = OpWork::each_key,
          .stands_alone = true},

    OpRow{.op = Op::sample_student_t_mixture,
          .name = "sample_student_t_mixture",
          .kind = OpClass::random,
          .least_inputs = 7,
          .most_inputs = 7,
          .dtypes = OpDTypes::f32,
          .stands_alone = true},
    OpRow{.op = Op::sample_categorical,
          .name = "sample_categorical",
          .kind = OpClass::random,
          .least_inputs = 6,
          .most_inputs = 7,
          .dtypes = OpDTypes::i32,
          .stands_alone = true},

    OpRow{.op = Op::store,
          .name = "store",
          .kind = OpClass::effect,
          .least_inputs = 2,
          .most_inputs = 3,
          .rows = OpRows::all},
    OpRow{.op = Op::opaque,
          .name = "opaque",
          .kind = OpClass::custom,
          .least_inputs = 1,
          .most_inputs = 9,
          .stands_alone = true,
          .executors = {.cuda = false}},
};

namespace detail {

/// For `op_row`, which compilers call so often that each call within it counts.
inline constexpr const OpRow* op_table_begin = op_table.data();

constexpr bool is_op_table_in_order() {
    for (std::size_t i = 0; i < op_table.size(); ++i) {
        if (op_table[i].op != static_cast<Op>(i)) {
            return false;
        }
    }
    return true;
}

}  // namespace detail

static_assert(op_table.size() == op_count && detail::is_op_table_in_order(),
              "totograph: an op has no row in `op_table`, or rows are not in the order of `Op`; give each op one row, "
              "at its place.");

/// The row of an op.
constexpr const OpRow& op_row(Op op) noexcept {
    return detail::op_table_begin[static_cast<std::size_t>(op)];
}

/// The name of an op, as errors and explanations say it.
constexpr std::string_view name(Op op) noexcept {
    return op_row(op).name;
}

constexpr bool is_elementwise(Op op) noexcept {
    return detail::op_table_begin[static_cast<std::size_t>(op)].kind == OpClass::elementwise;
}

/// Whether a node only tells where elements of its input are.
constexpr bool is_view(Op op) noexcept {
    return detail::op_table_begin[static_cast<std::size_t>(op)].kind == OpClass::view;
}

/// The dtypes in words.
constexpr std::string_view name_of(OpDTypes dtypes) noexcept {
    switch (dtypes) {
        case OpDTypes::any: return "f32, f64 and i32";
        case OpDTypes::floats: return "f32 and f64";
        case OpDTypes::f32: return "f32";
        case OpDTypes::i32: return "i32";
    }
    return "no dtype";
}

/// How many ops are of a class.
constexpr int count_ops(OpClass kind) noexcept {
    int count = 0;
    for (const OpRow& row : op_table) {
        count += row.kind == kind ? 1 : 0;
    }
    return count;
}

/// Whether a result of an op can have a dtype.
constexpr bool takes_dtype(OpDTypes dtypes, DType dtype) noexcept {
    switch (dtypes) {
        case OpDTypes::any: return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i32;
        case OpDTypes::floats: return dtype == DType::f32 || dtype == DType::f64;
        case OpDTypes::f32: return dtype == DType::f32;
        case OpDTypes::i32: return dtype == DType::i32;
    }
    return false;
}

/// Whether nodes of an op can be computed before the first run, if their inputs can: not what reads a state, has an
/// effect, or runs a kernel of the user.
constexpr bool is_pure(Op op) noexcept {
    const OpClass kind = detail::op_table_begin[static_cast<std::size_t>(op)].kind;
    return op != Op::state && kind != OpClass::effect && kind != OpClass::custom;
}

}  // namespace totograph
