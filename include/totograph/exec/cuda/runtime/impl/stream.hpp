// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/stream.hpp>

#include <chrono>
#include <cstddef>
#include <string>

#include <cuda_runtime.h>

#include <totograph/core/log.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/idle_streams.hpp>
#include <totograph/exec/cuda/runtime/stream_use.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE Stream::Stream(StreamUse use) : use_(use) {
    check(cudaGetDevice(&device_), "asking for the device in use");
    stream_ = IdleStreams::instance().take(device_, use);
}

TOTOGRAPH_CUDA_INLINE Stream::~Stream() {
    if (stream_ != nullptr) {
        IdleStreams::instance().give_back(device_, use_, stream_);
    }
}

TOTOGRAPH_CUDA_INLINE Event::Event(bool times) {
    check(cudaEventCreateWithFlags(&event_, times ? cudaEventDefault : cudaEventDisableTiming), "creating an event");
}

TOTOGRAPH_CUDA_INLINE Event::~Event() {
    if (event_ != nullptr) {
        cudaEventDestroy(event_);
    }
}

TOTOGRAPH_CUDA_INLINE float Event::since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "reading the time between events");
    return milliseconds;
}

TOTOGRAPH_CUDA_INLINE PendingWork::~PendingWork() {
    if (is_pending_) {
        cudaEventSynchronize(event_.get());
    }
}

TOTOGRAPH_CUDA_INLINE void PendingWork::wait() {
    if (!is_pending_) {
        return;
    }
    const cudaError_t state = cudaEventQuery(event_.get());
    if (state == cudaErrorNotReady) {
        cudaGetLastError();  // not an error, but told as one by the next who asks
        check(cudaEventSynchronize(event_.get()), "waiting for the forecast before");
    } else {
        check(state, "waiting for the forecast before");
    }
    is_pending_ = false;
}

TOTOGRAPH_CUDA_INLINE void ReplayableGraph::capture(const Stream& stream, const void* record, RecordFunction call,
                                                    bool is_logged, bool keeps_first) {
    const auto begin = std::chrono::steady_clock::now();
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "beginning a capture");
    try {
        call(record, stream.get());
    } catch (...) {
        cudaGraph_t broken = nullptr;
        cudaStreamEndCapture(stream.get(), &broken);
        if (broken != nullptr) {
            cudaGraphDestroy(broken);
        }
        throw;
    }
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "ending a capture");
    const cudaError_t counted = cudaGraphGetNodes(graph, nullptr, &nodes_);
    const cudaError_t made = counted == cudaSuccess ? cudaGraphInstantiate(&graph_, graph, 0) : counted;
    if (made == cudaSuccess && keeps_first) {
        keep_first(graph);
    } else {
        cudaGraphDestroy(graph);
    }
    check(made, "instantiating a graph");
    if (is_logged) {
        log(LogTopic::capture, [&] {
            const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
            return "captured a graph of " + std::to_string(nodes_) + " nodes in " +
                   totograph::detail::number_text(taken.count(), 3) + " ms";
        });
    }
}

TOTOGRAPH_CUDA_INLINE void ReplayableGraph::keep_first(cudaGraph_t captured) {
    constexpr const char* what = "asking for the first node of a graph";
    captured_ = captured;
    std::size_t roots = 0;
    check(cudaGraphGetRootNodes(captured, nullptr, &roots), what);
    check(roots == 1 ? cudaSuccess : cudaErrorInvalidValue, what);
    check(cudaGraphGetRootNodes(captured, &first_, &roots), what);
}

TOTOGRAPH_CUDA_INLINE void ReplayableGraph::run_first(bool runs) const {
    if (runs != runs_first_) {
        check(cudaGraphNodeSetEnabled(graph_, first_, runs ? 1U : 0U), "changing a graph");
        runs_first_ = runs;
    }
}

TOTOGRAPH_CUDA_INLINE ReplayableGraph::~ReplayableGraph() {
    if (graph_ != nullptr) {
        cudaGraphExecDestroy(graph_);
    }
    if (captured_ != nullptr) {
        cudaGraphDestroy(captured_);
    }
}

}  // namespace totograph::cuda
