// SPDX-License-Identifier: Apache-2.0
#include "cuda/count_calls.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

namespace {

/// The calls of one function. All of them are in a list, so that nothing is allocated while they are counted.
class Counter {
public:
    explicit Counter(const char* name) : name_(name), next_(first()) { first() = this; }

    /// Counts a call, and returns the library's function.
    template <class Function>
    Function call() {
        ++count_;
        void* const found = dlsym(RTLD_NEXT, name_);
        if (found == nullptr) {
            std::fprintf(stderr, "count_calls: no shared library after this program has %s; link cudart shared.\n",
                         name_);
            std::abort();
        }
        return reinterpret_cast<Function>(found);
    }

    static Counter*& first() {
        static Counter* counter = nullptr;
        return counter;
    }
    [[nodiscard]] const char* name() const { return name_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] Counter* next() const { return next_; }
    void forget() { count_ = 0; }

private:
    const char* name_;
    Counter* next_;
    std::atomic<int> count_{0};
};

}  // namespace

namespace calls {

std::map<std::string, int> counted() {
    std::map<std::string, int> result;
    for (const Counter* counter = Counter::first(); counter != nullptr; counter = counter->next()) {
        if (counter->count() > 0) {
            result[counter->name()] = counter->count();
        }
    }
    return result;
}

void forget() {
    for (Counter* counter = Counter::first(); counter != nullptr; counter = counter->next()) {
        counter->forget();
    }
}

}  // namespace calls

#define TOTOGRAPH_COUNT(function, parameters, arguments)                    \
    namespace {                                                             \
    Counter counter_of_##function(#function);                               \
    }                                                                       \
    extern "C" cudaError_t CUDARTAPI function parameters {                  \
        return counter_of_##function.call<decltype(&function)>() arguments; \
    }

// Allocations.
TOTOGRAPH_COUNT(cudaMalloc, (void** memory, std::size_t size), (memory, size))
TOTOGRAPH_COUNT(cudaMallocAsync, (void** memory, std::size_t size, cudaStream_t stream), (memory, size, stream))
TOTOGRAPH_COUNT(cudaMallocHost, (void** memory, std::size_t size), (memory, size))
TOTOGRAPH_COUNT(cudaHostAlloc, (void** memory, std::size_t size, unsigned flags), (memory, size, flags))
TOTOGRAPH_COUNT(cudaMallocManaged, (void** memory, std::size_t size, unsigned flags), (memory, size, flags))
TOTOGRAPH_COUNT(cudaFree, (void* memory), (memory))
TOTOGRAPH_COUNT(cudaFreeAsync, (void* memory, cudaStream_t stream), (memory, stream))
TOTOGRAPH_COUNT(cudaFreeHost, (void* memory), (memory))

// Streams, captures and graphs.
TOTOGRAPH_COUNT(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
TOTOGRAPH_COUNT(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode))
TOTOGRAPH_COUNT(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), (stream, graph))
TOTOGRAPH_COUNT(cudaGraphInstantiate, (cudaGraphExec_t * made, cudaGraph_t graph, unsigned long long flags),
                (made, graph, flags))
TOTOGRAPH_COUNT(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * made, cudaGraph_t graph, unsigned long long flags),
                (made, graph, flags))
TOTOGRAPH_COUNT(cudaGraphUpload, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
TOTOGRAPH_COUNT(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
TOTOGRAPH_COUNT(cudaGraphNodeSetEnabled, (cudaGraphExec_t graph, cudaGraphNode_t node, unsigned enabled),
                (graph, node, enabled))

// Waits of the host.
TOTOGRAPH_COUNT(cudaStreamSynchronize, (cudaStream_t stream), (stream))
TOTOGRAPH_COUNT(cudaDeviceSynchronize, (), ())
TOTOGRAPH_COUNT(cudaEventSynchronize, (cudaEvent_t event), (event))
TOTOGRAPH_COUNT(cudaMemcpy, (void* to, const void* from, std::size_t size, cudaMemcpyKind kind), (to, from, size, kind))
TOTOGRAPH_COUNT(cudaMemset, (void* memory, int value, std::size_t size), (memory, value, size))

// Work outside a graph.
TOTOGRAPH_COUNT(cudaMemcpyAsync,
                (void* to, const void* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t stream),
                (to, from, size, kind, stream))
TOTOGRAPH_COUNT(cudaMemsetAsync, (void* memory, int value, std::size_t size, cudaStream_t stream),
                (memory, value, size, stream))
TOTOGRAPH_COUNT(cudaLaunchKernel,
                (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                 cudaStream_t stream),
                (function, grid, block, arguments, shared, stream))
TOTOGRAPH_COUNT(cudaLaunchKernelExC, (const cudaLaunchConfig_t* config, const void* function, void** arguments),
                (config, function, arguments))
