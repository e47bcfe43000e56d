// SPDX-License-Identifier: Apache-2.0
// In a checked build a position out of bounds ends the kernel, and with it all work of this process on the device: the
// only test of its program.
#define TOTOGRAPH_CHECKED
#pragma nv_diag_suppress 186  // a model without weights makes nvcc say that a count is never below zero

#include <cstdint>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/exec/cuda/executor.hpp>
#include <totograph/graph/program.hpp>

#include "cuda/device_test.hpp"
#include "support/position_models.hpp"
#include "support/tensor_sources.hpp"

TEST_CASE("a checked build ends where a position is out of bounds, and only there") {
    namespace tg = totograph;
    using Model = tg::test::TakenView;
    const tg::cuda::Executor<tg::cuda::Precision::f32, tg::Program<Model>> executor(tg::test::made_up_weights(),
                                                                                    tg::cuda::describe_device(0));
    const tg::cuda::Stream stream;
    const auto run_at = [&](std::int32_t position) {
        REQUIRE(cudaMemcpy(executor.state("at"), &position, sizeof(position), cudaMemcpyHostToDevice) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return device_test::error_of([&] {
            executor.launch<0>(stream.get());
            stream.synchronize();
        });
    };
    REQUIRE(cudaMemset(executor.state("source"), 0, 2 * 5 * 4 * sizeof(float)) == cudaSuccess);
    CHECK(run_at(4).empty());
    device_test::check_has(run_at(5), "device_failure: ");
}
