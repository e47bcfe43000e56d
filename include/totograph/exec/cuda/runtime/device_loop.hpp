// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

// A graph that repeats a part of itself on the device (a conditional node, CUDA 12.4 and later).

/// Begins a loop: `left` counts its rounds down, from what the host wrote to `rounds`.
template <class Unused = void>
__global__ void begin_loop(cudaGraphConditionalHandle handle, const std::int32_t* rounds, std::int32_t* left) {
    *left = *rounds;
    cudaGraphSetConditional(handle, *rounds > 0 ? 1 : 0);
}

/// Ends a round.
template <class Unused = void>
__global__ void end_round(cudaGraphConditionalHandle handle, std::int32_t* left) {
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0 ? 1 : 0);
}

/// Within a capture of `stream`: captures `record(body_stream)` as a part of the graph that runs `*rounds` times, and
/// lets what the stream captures next come after the last round.
///
/// @param rounds  read by the device at each replay: pinned memory of the host
/// @param left    memory of the device, for one number
template <class Record>
void capture_loop(cudaStream_t stream, const Stream& body_stream, const std::int32_t* rounds, std::int32_t* left,
                  Record&& record) {
    constexpr const char* what = "capturing a loop";
    cudaStreamCaptureStatus status{};
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* before = nullptr;
    std::size_t count = 0;
    const auto ask = [&] {
#if CUDART_VERSION >= 13000
        const cudaGraphEdgeData* edges = nullptr;
        check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &before, &edges, &count), what);
#else
        check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &before, &count), what);
#endif
    };
    ask();
    cudaGraphConditionalHandle handle{};
    check(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault), what);
    begin_loop<><<<1, 1, 0, stream>>>(handle, rounds, left);
    check(cudaGetLastError(), what);
    ask();
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
    cudaGraphNode_t loop = nullptr;
#if CUDART_VERSION >= 13000
    check(cudaGraphAddNode(&loop, graph, before, nullptr, count, &parameters), what);
    check(cudaStreamUpdateCaptureDependencies(stream, &loop, nullptr, 1, cudaStreamSetCaptureDependencies), what);
#else
    check(cudaGraphAddNode(&loop, graph, before, count, &parameters), what);
    check(cudaStreamUpdateCaptureDependencies(stream, &loop, 1, cudaStreamSetCaptureDependencies), what);
#endif
    const cudaGraph_t body = parameters.conditional.phGraph_out[0];
    check(cudaStreamBeginCaptureToGraph(body_stream.get(), body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
          what);
    try {
        record(body_stream.get());
        end_round<><<<1, 1, 0, body_stream.get()>>>(handle, left);
        check(cudaGetLastError(), what);
    } catch (...) {
        cudaGraph_t broken = nullptr;
        cudaStreamEndCapture(body_stream.get(), &broken);  // the body belongs to the graph around it
        throw;
    }
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(body_stream.get(), &captured), what);
}

}  // namespace totograph::cuda
