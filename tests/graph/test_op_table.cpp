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
        CHECK(row.executors.eager);
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
