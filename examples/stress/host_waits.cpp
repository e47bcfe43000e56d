// SPDX-License-Identifier: Apache-2.0
#include "host_waits.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

// Stands between this program and the shared CUDA runtime: a definition in the program comes first, and goes on to the
// library's.

namespace {

constinit std::atomic<std::uint64_t> count{0};

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

std::function<std::uint64_t()> examples::host_waits_probe() {
    return [] { return count.load(std::memory_order_relaxed); };
}

extern "C" {

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) {
    static const auto wait = function_of<decltype(&cudaStreamSynchronize)>("cudaStreamSynchronize");
    count.fetch_add(1, std::memory_order_relaxed);
    return wait(stream);
}
cudaError_t CUDARTAPI cudaDeviceSynchronize() {
    static const auto wait = function_of<decltype(&cudaDeviceSynchronize)>("cudaDeviceSynchronize");
    count.fetch_add(1, std::memory_order_relaxed);
    return wait();
}
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
    static const auto wait = function_of<decltype(&cudaEventSynchronize)>("cudaEventSynchronize");
    count.fetch_add(1, std::memory_order_relaxed);
    return wait(event);
}
cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    static const auto wait = function_of<decltype(&cudaMemcpy)>("cudaMemcpy");
    count.fetch_add(1, std::memory_order_relaxed);
    return wait(to, from, size, kind);
}

}  // extern "C"
