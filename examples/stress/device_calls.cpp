// SPDX-License-Identifier: Apache-2.0
#include "device_calls.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <totograph/diagnostics/grid/device_calls.hpp>

// Stands between this program and the shared CUDA runtime: a definition in the program comes first, and goes on to the
// library's.

namespace {

constinit std::atomic<std::uint64_t> waits{0};
constinit std::atomic<std::uint64_t> graph_launches{0};
constinit std::atomic<std::uint64_t> captures{0};

void count(std::atomic<std::uint64_t>& calls) {
    calls.fetch_add(1, std::memory_order_relaxed);
}

/// The library's function of that name.
template <class Function>
Function function_of(const char* name) {
    void* const found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
        std::fprintf(stderr, "stress: no shared library after this program has %s; link the CUDA runtime shared.\n",
                     name);
        std::abort();
    }
    return reinterpret_cast<Function>(found);
}

}  // namespace

std::function<totograph::serve::DeviceCalls()> examples::device_calls_probe() {
    return [] {
        return totograph::serve::DeviceCalls{.waits = waits.load(std::memory_order_relaxed),
                                             .graph_launches = graph_launches.load(std::memory_order_relaxed),
                                             .captures = captures.load(std::memory_order_relaxed)};
    };
}

extern "C" {

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) {
    static const auto wait = function_of<decltype(&cudaStreamSynchronize)>("cudaStreamSynchronize");
    count(waits);
    return wait(stream);
}
cudaError_t CUDARTAPI cudaDeviceSynchronize() {
    static const auto wait = function_of<decltype(&cudaDeviceSynchronize)>("cudaDeviceSynchronize");
    count(waits);
    return wait();
}
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
    static const auto wait = function_of<decltype(&cudaEventSynchronize)>("cudaEventSynchronize");
    count(waits);
    return wait(event);
}
cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    static const auto wait = function_of<decltype(&cudaMemcpy)>("cudaMemcpy");
    count(waits);
    return wait(to, from, size, kind);
}
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    static const auto launch = function_of<decltype(&cudaGraphLaunch)>("cudaGraphLaunch");
    count(graph_launches);
    return launch(graph, stream);
}
cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    static const auto begin = function_of<decltype(&cudaStreamBeginCapture)>("cudaStreamBeginCapture");
    count(captures);
    return begin(stream, mode);
}

}  // extern "C"
