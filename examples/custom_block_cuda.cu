// SPDX-License-Identifier: Apache-2.0
// A model that is not Toto, with an operation of its own, on a GPU: captured once, replayed, and compared with the CPU.
#include <cstdio>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/executor.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

#include "custom_block/mixer.hpp"
#include "custom_block/run_on_cpu.hpp"

namespace {

std::vector<float> run_on_gpu() {
    using totograph::cuda::check;
    const totograph::cuda::Device device = totograph::cuda::describe_device(0);
    const totograph::Weights weights(std::make_shared<mixer::MadeUpWeights>());
    using Program = totograph::Program<mixer::PlainMixer>;
    const totograph::cuda::Executor<totograph::cuda::Precision::f32, Program> executor(weights, device);
    const totograph::cuda::Stream stream;
    const totograph::cuda::ReplayableGraph graph(stream, [&](cudaStream_t captured) { executor.launch<0>(captured); });

    std::vector<float> values(static_cast<std::size_t>(mixer::steps * mixer::width));
    const std::size_t bytes = values.size() * sizeof(float);
    mixer::fill_input(values.data());
    check(cudaMemcpy(executor.state("input"), values.data(), bytes, cudaMemcpyHostToDevice), "copying the input");
    graph.launch(stream.get());
    stream.synchronize();
    check(cudaMemcpy(values.data(), executor.state("output"), bytes, cudaMemcpyDeviceToHost), "copying the result");
    std::printf("%zu kernels on %s\n", executor.launches<0>(), device.name.c_str());
    return values;
}

}  // namespace

int main() {
    try {
        const float largest = mixer::largest_difference(run_on_gpu(), mixer::run_on_cpu());
        std::printf("GPU and CPU differ by at most %.1e.\n", static_cast<double>(largest));
        return largest < 1e-5F ? 0 : 1;
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
