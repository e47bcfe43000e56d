// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;

TEST_CASE("every op has a row that says what it is") {
    std::set<std::string_view> names;
    for (const OpRow& row : op_table) {
        CAPTURE(row.name);
        CHECK(names.insert(row.name).second);
        CHECK_FALSE(row.name.empty());
        CHECK(row.least_inputs <= row.most_inputs);
        CHECK(row.most_inputs <= max_inputs);
        CHECK((row.most_inputs == 0) == (row.kind == OpClass::leaf));
        CHECK((row.flops > 0) == (row.work == OpWork::each_element));
        // An instruction of a chain has three arguments at most.
        CHECK((row.kind != OpClass::elementwise || row.most_inputs <= 3));
    }
    CHECK(names.size() == op_count);
}

TEST_CASE("steps that are launched alone are GEMMs, attentions, draws, and what the user wrote") {
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    CHECK(stands_alone(kernel));
    kernel.kind = KernelKind::structural;
    for (const OpRow& row : op_table) {
        CAPTURE(row.name);
        kernel.op = row.op;
        CHECK(stands_alone(kernel) == (row.kind == OpClass::matmul || row.kind == OpClass::attention ||
                                       row.kind == OpClass::random || row.kind == OpClass::custom));
    }
    kernel.kind = KernelKind::reduction;
    kernel.op = Op::sum;
    CHECK_FALSE(stands_alone(kernel));
}

TEST_CASE("functions of real numbers are refused for integers") {
    for (const Op op : {Op::exp, Op::log, Op::sin, Op::cos, Op::sqrt, Op::rsqrt, Op::sigmoid, Op::silu, Op::softplus,
                        Op::tanh, Op::sinh, Op::asinh, Op::erf, Op::gelu, Op::mean}) {
        CAPTURE(name(op));
        Recorder r;
        r.add(op, DType::i32, Shape{3, 1}, {r.state("whole", {3, 1}, DType::i32)});
        CHECK(r.graph().error.kind == ModelErrorKind::dtype_is_not_taken);
        Recorder fine;
        fine.add(op, DType::f64, Shape{3, 1}, {fine.state("x", {3, 1}, DType::f64)});
        CHECK(fine.graph().error.kind == ModelErrorKind::none);
    }
}

TEST_CASE("an op with other inputs than it takes is a mistake with a sentence") {
    Recorder fewer;
    fewer.add(Op::add, DType::f32, Shape{3}, {fewer.state("x", {3})});
    CHECK(fewer.graph().error.kind == ModelErrorKind::input_count_differs);
    CHECK(fewer.graph().error.message() == "add of 1 inputs; it takes 2");
    Recorder more;
    const Tensor x = more.state("x", {3});
    more.add(Op::negative, DType::f32, Shape{3}, {x, x});
    CHECK(more.graph().error.kind == ModelErrorKind::input_count_differs);
    Recorder none;
    none.add(Op::exp, DType::f32, Shape{3}, {});
    CHECK(none.graph().error.kind == ModelErrorKind::input_count_differs);
    Recorder range;
    range.add(Op::store, DType::f32, Shape{3}, {range.state("x", {3})});
    CHECK(range.graph().error.message() == "store of 1 inputs; it takes 2 to 3");
}

TEST_CASE("an op of a dtype that it does not compute in is a mistake with a sentence") {
    Recorder r;
    softmax(r.state("ids", {3, 4}, DType::i32));
    CHECK(r.graph().error.kind == ModelErrorKind::dtype_is_not_taken);
    CHECK(r.graph().error.message() == "softmax of i32; it computes in f32");
    Recorder other;
    cumsum(other.state("ids", {3, 4}, DType::i32));
    CHECK(other.graph().error.message() == "cumsum of i32; it computes in f32 and f64");
    Recorder fine;
    cumsum(fine.state("sums", {3, 4}, DType::f64));
    CHECK(fine.graph().error.kind == ModelErrorKind::none);
}
