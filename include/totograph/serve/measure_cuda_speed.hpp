// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/check.hpp>
#include <totograph/exec/cuda/device.hpp>
#include <totograph/exec/cuda/library_product.hpp>
#include <totograph/exec/cuda/memory.hpp>
#include <totograph/exec/cuda/stream.hpp>
#include <totograph/serve/explanation.hpp>

namespace totograph::serve {

namespace detail {

/// The shortest of some runs of what `launch` puts onto a stream, in seconds, after one that is not measured.
template <class Launch>
double shortest_seconds_on(const cuda::Stream& stream, Launch&& launch) {
    constexpr int runs = 6;
    const cuda::Event start(true);
    const cuda::Event end(true);
    double shortest = 0;
    for (int run = 0; run < runs; ++run) {
        start.record(stream.get());
        launch();
        end.record(stream.get());
        stream.synchronize();
        const double seconds = std::max(static_cast<double>(end.since(start)) * 1e-3, 1e-9);
        shortest = run < 2 ? seconds : std::min(shortest, seconds);
    }
    return shortest;
}

}  // namespace detail

/// What a device reaches, measured in a moment: copying its memory, and a large product by cuBLASLt's first choice of
/// an algorithm. Takes 544 MiB of its memory while it measures. Throws `Error` when there is no such device, or not as
/// much memory.
inline DeviceSpeed measure_cuda_speed(int device = 0, cuda::Precision precision = cuda::Precision::bf16) {
    using cuda::check;
    const cuda::CurrentDevice current(device);
    const cuda::Stream stream;
    DeviceSpeed speed;
    constexpr std::size_t copied = std::size_t{256} << 20U;
    const cuda::DeviceMemory from(copied);
    const cuda::DeviceMemory to(copied);
    check(cudaMemsetAsync(from.data(), 0, copied, stream.get()), "clearing memory");
    const double copying = detail::shortest_seconds_on(stream, [&] {
        check(cudaMemcpyAsync(to.data(), from.data(), copied, cudaMemcpyDeviceToDevice, stream.get()),
              "copying memory");
    });
    speed.bytes_per_second = 2.0 * static_cast<double>(copied) / copying;

    constexpr Index extent = 8192;
    const cuda::LibraryHandle library;
    cuda::LibraryProduct product(library.get(), {.rows = extent,
                                                 .columns = extent,
                                                 .depth = extent,
                                                 .input_stride = extent,
                                                 .output_stride = extent,
                                                 .precision = precision});
    product.choose(product.candidates(1).front());
    const cuda::DeviceMemory workspace(cuda::product_workspace_bytes);
    // Zeros would be multiplied faster: they switch fewer transistors.
    check(cudaMemsetAsync(from.data(), 0x3e, copied, stream.get()), "filling memory");
    const double multiplying = detail::shortest_seconds_on(stream, [&] {
        product.launch(from.data(), from.data(), to.data(), nullptr, nullptr, workspace.data(), stream.get());
    });
    constexpr auto size = static_cast<double>(extent);
    speed.flops_per_second = 2.0 * size * size * size / multiplying;
    return speed;
}

}  // namespace totograph::serve
