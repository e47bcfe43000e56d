// SPDX-License-Identifier: Apache-2.0
// Loops on the device: what is compiled once must compute what its layers do, to the bit.
#include <cmath>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/graph/program.hpp>

#include "exec/cuda/loop_models.hpp"
#include "support/tensor_sources.hpp"

namespace {

namespace tg = totograph;
using tg::cuda::Precision;

/// The states of a program by their places in its layout, after one run from the same input.
template <Precision precision, class Program>
std::vector<std::vector<float>> states_after(const tg::Weights& weights) {
    using Executor = tg::cuda::Executor<precision, Program>;
    const tg::cuda::Stream stream;
    // The same algorithms for both.
    const Executor executor(weights, tg::cuda::describe_device(0), {.tunes = false});
    executor.poison(stream.get());
    std::vector<std::vector<float>> states;
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        states.emplace_back(static_cast<std::size_t>(Executor::Layout::entries[i].slot.shape.size()));
    }
    std::vector<float>& x =
        states[static_cast<std::size_t>(Executor::Layout::find("x") - &Executor::Layout::entries[0])];
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(tg::test::uniform(i));
    }
    REQUIRE(cudaMemcpyAsync(executor.state("x"), x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice,
                            stream.get()) == cudaSuccess);
    executor.template launch<0>(stream.get());
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        const tg::StateSlot& slot = Executor::Layout::entries[i].slot;
        REQUIRE(cudaMemcpyAsync(states[i].data(), executor.state(slot.name, slot.layer),
                                states[i].size() * sizeof(float), cudaMemcpyDeviceToHost, stream.get()) == cudaSuccess);
    }
    stream.synchronize();
    return states;
}

/// @param loops  that are compiled as such; others are written out
template <Precision precision, class Program>
void check_loop(int loops = 1) {
    REQUIRE(tg::cuda::LoweredProgram<Program, precision == Precision::bf16>::loops.count == loops);
    const tg::Weights weights(std::make_shared<tg::test::MadeUpTensors>());
    const auto found = states_after<precision, Program>(weights);
    const auto expected = states_after<precision, typename tg::WrittenOut<Program>::type>(weights);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(found[i] == expected[i]);
        CHECK(std::isfinite(found[i][0]));
        CHECK(found[i][0] != 0);
    }
}

}  // namespace

TEST_CASE("a loop computes on a device what its layers do") {
    SUBCASE("with norms behind the GEMMs of the layer before") {
        check_loop<Precision::bf16, tg::Program<loop_models::Stack<12, 1792>>>();
    }
    SUBCASE("in f32") {
        check_loop<Precision::f32, tg::Program<loop_models::Stack<12, 1792>>>();
    }
    SUBCASE("skinny") {
        check_loop<Precision::bf16, tg::Program<loop_models::Stack<12, 8>>>();
    }
    SUBCASE("skinny, in tf32") {
        check_loop<Precision::tf32, tg::Program<loop_models::Stack<12, 8>>>();
    }
    SUBCASE("in tf32") {
        check_loop<Precision::tf32, tg::Program<loop_models::Stack<12, 1792>>>();
    }
    SUBCASE("of two layers") {
        check_loop<Precision::bf16, tg::Program<loop_models::Alternating>>();
    }
    SUBCASE("of several") {
        check_loop<Precision::bf16, tg::Program<loop_models::TwoStacks<false>>>(2);
    }
    SUBCASE("that is launched as if it were none") {
        check_loop<Precision::bf16, tg::Program<loop_models::SmallSteps>>(0);
    }
}
