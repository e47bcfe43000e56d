// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>

/// @file
/// Blocks: parts of a model as types of their sizes, as modules are in PyTorch. An object of such a type holds the
/// weights of one layer, as tensors of a recorder; its member `record` adds what it computes to the graph. What follows
/// from the sizes alone is a constant of the type, and wrong sizes are a sentence of the compiler that names the type
/// with its numbers.
namespace totograph::nn {

/// What a block tells about itself.
template <class T>
concept Block = requires {
    /// Numbers in its weights.
    { T::parameters } -> std::convertible_to<Index>;
    /// What they take in f32.
    { T::parameter_bytes } -> std::convertible_to<Index>;
    /// Of its GEMMs, for one row of its input: a multiplication and an addition are two.
    { T::flops_per_row } -> std::convertible_to<Index>;
};

/// Parameters of several blocks together.
template <Block... Blocks>
inline constexpr Index parameters_of = (Index{0} + ... + Blocks::parameters);
/// FLOPs of several blocks that read rows of the same number, each once.
template <Block... Blocks>
inline constexpr Index flops_of = (Index{0} + ... + Blocks::flops_per_row);
/// Bytes of one parameter in `parameter_bytes`.
inline constexpr Index parameter_size = 4;

namespace detail {

/// The name of a type as the compiler spells it, with the numbers of its sizes.
template <class Type>
constexpr std::string_view type_name() {
    const std::string_view function = __PRETTY_FUNCTION__;
    constexpr std::string_view before = "Type = ";
    const std::size_t begin = function.find(before) + before.size();
    // g++ goes on with "; std::string_view = ...", and all of them end with a bracket.
    const std::size_t end = function.find(';', begin);
    return function.substr(begin, (end < function.size() ? end : function.size() - 1) - begin);
}

/// Notes a mistake unless the rows of x are as wide as a block takes them.
template <class Type>
constexpr bool check_width(Tensor x, Index width) {
    if (x.shape().rank >= 1 && x.extent(-1) == width) {
        return true;
    }
    ModelError& mistake = x.recorder().fail(ModelErrorKind::block_width_differs);
    constexpr std::string_view qualifier = "totograph::nn::";
    std::string_view name = type_name<Type>();
    for (std::size_t at = name.find(qualifier); at < name.size(); at = name.find(qualifier)) {
        mistake << name.substr(0, at);
        name = name.substr(at + qualifier.size());
    }
    mistake << name << ": it takes rows of " << width << ", found x of shape " << x.shape();
    return false;
}

}  // namespace detail

}  // namespace totograph::nn
