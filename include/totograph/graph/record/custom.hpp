// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {

/// Describes an operation that the library's user defines.
///
/// An elementwise operation is a struct with
///
///     static constexpr std::string_view name = "...";
///     template <class T> static T apply(T x, ...);      // T is a number, or a vector of floats; one to three
///     arguments
///
/// An opaque operation has a kernel of its own:
///
///     static constexpr std::string_view name = "...";
///     static constexpr Shape shape(Shape input, ...);   // of the output
///     template <class Output, class... Inputs>          // contiguous views with static shapes
///     static void run(Output output, Inputs... inputs) noexcept;
///
/// Both compute in f32, or in the types that they name: `using types = std::tuple<float, double, std::int32_t>;`. The
/// output has the dtype of the first input; an elementwise operation's inputs are all of one dtype.
struct CustomOperation {
    std::string_view name;
    /// Its type as the compiler spells it, which other types may share, such as those of two lambdas.
    std::string_view type;
    /// Whether it computes in f32, f64, i32.
    std::array<bool, 3> takes{};
    // An elementwise operation on single numbers, its arguments side by side; null in other types.
    float (*scalar)(const float* arguments) = nullptr;
    double (*scalar_f64)(const double* arguments) = nullptr;
    std::int32_t (*scalar_i32)(const std::int32_t* arguments) = nullptr;

    /// Whether it computes in a dtype.
    [[nodiscard]] constexpr bool computes_in(DType dtype) const {
        switch (dtype) {
            case DType::f32: return takes[0];
            case DType::f64: return takes[1];
            case DType::i32: return takes[2];
            default: return false;
        }
    }
};

namespace detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... Types>
inline constexpr bool is_tuple<std::tuple<Types...>> = true;

template <class Operation>
struct TypesOfOperation {
    using type = std::tuple<float>;
};
template <class Operation>
requires requires {
    typename Operation::types;
}
struct TypesOfOperation<Operation> {
    static_assert(is_tuple<typename Operation::types>,
                  "totograph: the `types` of an operation are a tuple, also where there is one: `using types = "
                  "std::tuple<double>`.");
    using type = std::conditional_t<is_tuple<typename Operation::types>, typename Operation::types, std::tuple<float>>;
};

/// Whether an operation of the user computes in a type.
template <class Operation, class T>
inline constexpr bool computes_in = []<class... Types>(std::type_identity<std::tuple<Types...>>) {
    static_assert(
        ((std::is_same_v<Types, float> || std::is_same_v<Types, double> || std::is_same_v<Types, std::int32_t>)&&...),
        "totograph: the `types` of an operation are among float, double and std::int32_t.");
    return (std::is_same_v<Types, T> || ...);
}(std::type_identity<typename TypesOfOperation<Operation>::type>());

/// How many arguments the function of an elementwise operation takes, as executors find out: the fewest that it can be
/// called with. 0 where it can be called with none of one to three.
template <class Operation, class T = std::tuple_element_t<0, typename TypesOfOperation<Operation>::type>>
inline constexpr std::size_t arguments_of = [] {
    if constexpr (requires { Operation::apply(T()); }) {
        return 1;
    } else if constexpr (requires { Operation::apply(T(), T()); }) {
        return 2;
    } else if constexpr (requires { Operation::apply(T(), T(), T()); }) {
        return 3;
    } else {
        return 0;
    }
}();

template <class Operation, class T>
constexpr auto scalar_of() -> T (*)(const T*) {
    if constexpr (!computes_in<Operation, T>) {  // NOLINT(bugprone-branch-clone): else it is not instantiated
        return nullptr;
    } else if constexpr (requires { Operation::apply(T()); }) {
        return [](const T* x) { return Operation::apply(x[0]); };
    } else if constexpr (requires { Operation::apply(T(), T()); }) {
        return [](const T* x) { return Operation::apply(x[0], x[1]); };
    } else if constexpr (requires { Operation::apply(T(), T(), T()); }) {
        return [](const T* x) { return Operation::apply(x[0], x[1], x[2]); };
    } else {
        return nullptr;
    }
}

/// The name of an operation, or a sentence for one that has none.
template <class Operation>
constexpr std::string_view name_of_operation() {
    constexpr bool has_name = requires {
        { Operation::name } -> std::convertible_to<std::string_view>;
    };
    static_assert(has_name, "totograph: an operation has a `static constexpr std::string_view name`.");
    if constexpr (has_name) {
        return Operation::name;
    } else {
        return {};
    }
}

/// Whether an opaque operation tells the shape of its output from those of so many inputs.
template <class Operation, class... Shapes>
concept HasShapeOf = requires(const Shapes&... shapes) {
    { Operation::shape(shapes...) } -> std::convertible_to<Shape>;
};

/// A type as the compiler spells it.
template <class Operation>
constexpr std::string_view type_text() {
    return __PRETTY_FUNCTION__;
}

template <class Operation>
constexpr CustomOperation describe() {
    return {name_of_operation<Operation>(),
            type_text<Operation>(),
            {computes_in<Operation, float>, computes_in<Operation, double>, computes_in<Operation, std::int32_t>},
            scalar_of<Operation, float>(),
            scalar_of<Operation, double>(),
            scalar_of<Operation, std::int32_t>()};
}

}  // namespace detail

template <class Operation>
inline constexpr CustomOperation custom_operation = detail::describe<Operation>();

/// Whether two descriptions are of one operation: their addresses tell. Of types that are spelled unlike these are not
/// compared, for to g++ with -fsanitize=undefined addresses of two operations are no constants to compare: there a
/// model does not compile that has two operations of one spelling.
constexpr bool is_same_operation(const CustomOperation* a, const CustomOperation* b) {
    return a->type == b->type && a == b;
}

/// The same of two nodes or instructions of one op, where they are of an operation of the user.
constexpr bool same_operation(Op op, const CustomOperation* a, const CustomOperation* b) {
    return (op != Op::custom_elementwise && op != Op::opaque) || is_same_operation(a, b);
}

/// The operations of the user that a model records: `using operations = OperationSet<Gelu, MovingAverage>;`. Executors
/// find the code of a recorded operation through it.
template <class... Operations>
struct OperationSet {
    static constexpr std::size_t size = sizeof...(Operations);

    template <std::size_t index>
    using At = std::tuple_element_t<index, std::tuple<Operations...>>;

    /// The place of an operation in the set; `size` when it is missing.
    static constexpr std::size_t find([[maybe_unused]] const CustomOperation* operation) {
        std::size_t index = 0;
        const bool found = ((is_same_operation(&custom_operation<Operations>, operation) || (++index, false)) || ...);
        return found ? index : size;
    }
};

namespace detail {

template <class T>
inline constexpr bool is_operation_set = false;
template <class... Operations>
inline constexpr bool is_operation_set<OperationSet<Operations...>> = true;

}  // namespace detail

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
    static constexpr bool is_set = detail::is_operation_set<typename Model::operations>;
    static_assert(is_set,
                  "totograph: the `operations` of a model are a set, also where there is one: `using operations = "
                  "totograph::OperationSet<...>`.");
    using type = std::conditional_t<is_set, typename Model::operations, OperationSet<>>;
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
