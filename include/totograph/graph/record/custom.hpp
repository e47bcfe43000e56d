// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <totograph/core/shape.hpp>

namespace totograph {

/// Describes an operation that the library's user defines. Its address is the operation's identity in a graph.
///
/// An elementwise operation is a struct with
///
///     static constexpr std::string_view name = "...";
///     template <class T> static T apply(T x, ...);      // T is float, or a vector of floats; one to three arguments
///
/// An opaque operation has a kernel of its own:
///
///     static constexpr std::string_view name = "...";
///     static constexpr Shape shape(Shape input, ...);   // of the output
///     template <class Output, class... Inputs>          // contiguous views of float with static shapes
///     static void run(Output output, Inputs... inputs) noexcept;
struct CustomOperation {
    std::string_view name;
    /// An elementwise operation on single numbers, its arguments side by side.
    float (*scalar)(const float* arguments) = nullptr;
};

namespace detail {

template <class Operation>
constexpr CustomOperation describe() {
    if constexpr (requires { Operation::apply(0.0F); }) {
        return {Operation::name, [](const float* x) { return Operation::apply(x[0]); }};
    } else if constexpr (requires { Operation::apply(0.0F, 0.0F); }) {
        return {Operation::name, [](const float* x) { return Operation::apply(x[0], x[1]); }};
    } else if constexpr (requires { Operation::apply(0.0F, 0.0F, 0.0F); }) {
        return {Operation::name, [](const float* x) { return Operation::apply(x[0], x[1], x[2]); }};
    } else {
        return {Operation::name, nullptr};
    }
}

}  // namespace detail

template <class Operation>
inline constexpr CustomOperation custom_operation = detail::describe<Operation>();

/// The operations of the user that a model records: `using operations = OperationSet<Gelu, MovingAverage>;`. Executors
/// find the code of a recorded operation through it.
template <class... Operations>
struct OperationSet {
    static constexpr std::size_t size = sizeof...(Operations);

    template <std::size_t index>
    using At = std::tuple_element_t<index, std::tuple<Operations...>>;

    /// The place of an operation in the set; `size` when it is missing.
    static constexpr std::size_t find(const CustomOperation* operation) {
        std::size_t index = 0;
        const bool found = ((&custom_operation<Operations> == operation || (++index, false)) || ...);
        return found ? index : size;
    }
};

/// The operations of a model; an empty set when the model names none.
template <class Model>
struct OperationsOf {
    using type = OperationSet<>;
};
template <class Model>
requires requires {
    typename Model::operations;
}
struct OperationsOf<Model> {
    using type = typename Model::operations;
};

/// The type of a user's operation in a model's set.
template <class Operations, const CustomOperation* operation>
struct FindOperation {
    static constexpr std::size_t index = Operations::find(operation);
    static_assert(index < Operations::size,
                  "totograph: the model records an operation of its own that its `operations` do not list; add it to "
                  "`using operations = totograph::OperationSet<...>`.");
    using type = typename Operations::template At<index>;
};

}  // namespace totograph
