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

/// Counts a wait, and gives the library's function of that name.
template <class Function>
Function wait_by(const char* name) {
    count.fetch_add(1, std::memory_order_relaxed);
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
    return wait_by<decltype(&cudaStreamSynchronize)>("cudaStreamSynchronize")(stream);
}
cudaError_t CUDARTAPI cudaDeviceSynchronize() {
    return wait_by<decltype(&cudaDeviceSynchronize)>("cudaDeviceSynchronize")();
}
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
    return wait_by<decltype(&cudaEventSynchronize)>("cudaEventSynchronize")(event);
}
cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    return wait_by<decltype(&cudaMemcpy)>("cudaMemcpy")(to, from, size, kind);
}

}  // extern "C"
