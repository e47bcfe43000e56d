// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace totograph {

/// What a node of a graph computes. Shapes in the comments are the node's own unless they name an input. Each op has a
/// row in `op_table`.
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
    embedding,    ///< Rows of a table by i32 ids.

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
    sinh,
    asinh,
    erf,                 ///< 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
    gelu,                ///< x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    less,                ///< 1 where a < b, else 0; NaN compares false.
    equal,               ///< 1 where a == b, else 0.
    where,               ///< b where a is not 0, else c.
    cast,                ///< Another dtype; to i32 towards zero, with the nearest i32 for what has none and 0 for NaN.
    rotate_pairs,        ///< (x0, x1) becomes (-x1, x0) along the last axis: half of a rotary embedding.
    custom_elementwise,  ///< An elementwise operation of the library's user.

    // Reductions and scans of the last axis.
    sum,
    mean,
    amax,  ///< The largest number of a row; NaN where one of them is.
    cumsum,
    running_moments,  ///< What observed values of a row add up to so far, told at the end of each group of steps.
    softmax,
    argmax,  ///< The place of the largest number of a row, as i32.
    sort,    ///< The numbers of a row in ascending order, NaN last.

    // GEMMs.
    linear,  ///< x W^T + b, W as `[out_features, in_features]`.
    matmul,  ///< A B, for weights that are composed before the first run.

    /// softmax(scale q k^T) v, as an `AttentionDescription` says. Rows are `[batch, sample, variate, position, heads *
    /// head_dim]`.
    attention,

    // Random numbers.
    sample_student_t_mixture,  ///< One draw for each sample, from a counter-based generator.
    sample_categorical,        ///< One id for each sample, of filtered logits, from the same generator.

    // Effects.
    store,  ///< Writes into a state.

    opaque,  ///< An operation with a kernel of the library's user.
};

/// How many ops there are.
inline constexpr std::size_t op_count = static_cast<std::size_t>(Op::opaque) + 1;

}  // namespace totograph
