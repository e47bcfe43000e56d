// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace totograph {

/// What a node of a graph computes. Shapes in the comments are the node's own unless they name an input.
enum class Op : std::uint8_t {
    // Leaves.
    weight,    ///< A tensor of the checkpoint, by name.
    constant,  ///< A scalar that is part of the model's definition.
    iota,      ///< 0, 1, 2, ... as `[n]`.
    state,     ///< A buffer that outlives one run: inputs, outputs, KV caches, positions.

    // Views and movement.
    reshape,      ///< Same elements, another shape.
    slice,        ///< Every `step`-th index of one axis from `begin`.
    permute,      ///< Axes in another order.
    expand,       ///< Repeats axes of extent 1.
    concatenate,  ///< Inputs one after the other along an axis.
    take,         ///< One index of an axis, read from a device-side position (one for all series, or one each).

    // Elementwise, with broadcasting.
    add,
    subtract,
    multiply,
    divide,
    maximum,  ///< The larger of two; NaN where one of them is.
    minimum,  ///< The smaller of two; NaN where one of them is.
    negative,
    abs,
    floor,
    exp,
    log,
    sin,
    cos,
    sqrt,
    rsqrt,
    sigmoid,
    silu,
    softplus,
    tanh,
    less,                ///< 1 where a < b, else 0; NaN compares false.
    equal,               ///< 1 where a == b, else 0.
    where,               ///< b where a is not 0, else c.
    cast,                ///< Another dtype; to i32 towards zero, with the nearest i32 for what has none and 0 for NaN.
    rotate_pairs,        ///< (x0, x1) becomes (-x1, x0) along the last axis: half of a rotary embedding.
    custom_elementwise,  ///< An elementwise operation of the library's user.

    // Reductions and scans of the last axis.
    sum,
    mean,
    cumsum,
    softmax,

    // Products.
    linear,  ///< x W^T + b, W as `[columns, depth]`.
    matmul,  ///< A B, for weights that are composed before the first run.

    /// softmax(scale q k^T) v, as an `AttentionDescription` says. Rows are `[batch, sample, variate, position, heads *
    /// head_dim]`.
    attention,

    // Random numbers.
    sample_student_t_mixture,  ///< One draw for each sample, from a counter-based generator.

    // Effects.
    store,  ///< Writes into a state.

    opaque,  ///< An operation with a kernel of the library's user.
};

constexpr bool is_elementwise(Op op) noexcept {
    return op >= Op::add && op <= Op::custom_elementwise;
}

constexpr std::string_view name(Op op) noexcept {
    switch (op) {
        case Op::weight: return "weight";
        case Op::constant: return "constant";
        case Op::iota: return "iota";
        case Op::state: return "state";
        case Op::reshape: return "reshape";
        case Op::slice: return "slice";
        case Op::permute: return "permute";
        case Op::expand: return "expand";
        case Op::concatenate: return "concatenate";
        case Op::take: return "take";
        case Op::add: return "add";
        case Op::subtract: return "subtract";
        case Op::multiply: return "multiply";
        case Op::divide: return "divide";
        case Op::maximum: return "maximum";
        case Op::minimum: return "minimum";
        case Op::negative: return "negative";
        case Op::abs: return "abs";
        case Op::floor: return "floor";
        case Op::exp: return "exp";
        case Op::log: return "log";
        case Op::sin: return "sin";
        case Op::cos: return "cos";
        case Op::sqrt: return "sqrt";
        case Op::rsqrt: return "rsqrt";
        case Op::sigmoid: return "sigmoid";
        case Op::silu: return "silu";
        case Op::softplus: return "softplus";
        case Op::tanh: return "tanh";
        case Op::less: return "less";
        case Op::equal: return "equal";
        case Op::where: return "where";
        case Op::cast: return "cast";
        case Op::rotate_pairs: return "rotate_pairs";
        case Op::custom_elementwise: return "custom_elementwise";
        case Op::sum: return "sum";
        case Op::mean: return "mean";
        case Op::cumsum: return "cumsum";
        case Op::softmax: return "softmax";
        case Op::linear: return "linear";
        case Op::matmul: return "matmul";
        case Op::attention: return "attention";
        case Op::sample_student_t_mixture: return "sample_student_t_mixture";
        case Op::store: return "store";
        case Op::opaque: return "opaque";
    }
    return "unknown";
}

}  // namespace totograph
