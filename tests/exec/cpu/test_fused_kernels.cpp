// SPDX-License-Identifier: Apache-2.0
// What kernels of the fused executor share, and how they round.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// A reduction, a GEMM with an epilogue, and a chain on two axes.
/// @tparam quarters  of the constant that it adds
template <Index rows, Index width, int quarters = 2>
struct Block {
    static constexpr double constant = 0.25 * quarters;
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {rows, width});
        r.store(r.state("total", {rows, 1}), sum(x * x) + constant);
        r.store(r.state("hidden", {rows, 3}), silu(linear(x, r.weight("up", {3, width}), r.weight("bias", {3}))));
        r.store(r.state("y", {rows, width}), x * r.state("row", {width}) + constant);
    }
};

template <class Model>
constexpr auto functions = cpu::KernelTable<Program<Model>, float>::functions;

/// How many of the kernels at the same places are one function.
template <class A, class B>
std::size_t shared() {
    REQUIRE(functions<A>.size() == functions<B>.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < functions<A>.size(); ++i) {
        count += functions<A>[i] == functions<B>[i] ? 1 : 0;
    }
    return count;
}

constexpr Index packet = cpu::packet_size;

}  // namespace

TEST_CASE("kernels of two programs that differ in extents and strides alone are one function") {
    using Small = Block<2, 2 * packet>;
    CHECK(functions<Small>.size() == 3);
    CHECK(shared<Small, Block<5, 6 * packet>>() == 3);
    CHECK(shared<Block<2, packet + 1>, Block<5, 3 * packet - 1>>() == 3);
    CHECK(shared<Small, Block<2, 2 * packet + 1>>() == 3);  // rows of whole packets, or not
}

TEST_CASE("kernels with other constants have functions of their own") {
    CHECK(shared<Block<2, 2 * packet>, Block<2, 2 * packet, 1>>() == 1);  // the constant is in two of three
}

TEST_CASE("a reduction rounds what its prologue gives before it adds, whatever is inlined") {
    // One lane adds two squares, of which a fused multiplication and addition would round the first sum otherwise.
    constexpr Index width = 2 * packet;
    using Model = Block<1, width, 0>;
    cpu::FusedExecutor<float, Program<Model>> executor(made_up_weights(), std::make_shared<cpu::ThreadPool>(1));
    constexpr float a = 0x1p-12F;
    constexpr float b = 1.0F + 0x1p-12F;
    volatile const float square_a = a * a;
    volatile const float square_b = b * b;
    volatile const float expected = square_a + square_b;
    REQUIRE(std::fma(b, b, square_a) != expected);
    auto* const x = static_cast<float*>(executor.state("x"));
    std::fill_n(x, width, 0.0F);
    x[0] = a;
    x[packet] = b;
    executor.run<0>();
    CHECK(*static_cast<const float*>(executor.state("total")) == expected);
}
