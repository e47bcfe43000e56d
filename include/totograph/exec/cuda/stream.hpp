// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/check.hpp>

namespace totograph::cuda {

/// A stream of one's own.
class Stream {
public:
    Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
    Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(stream_, other.stream_);
        return *this;
    }
    ~Stream() {
        if (stream_ != nullptr) {
            cudaStreamDestroy(stream_);
        }
    }

    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
    void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for a stream"); }

private:
    cudaStream_t stream_ = nullptr;
};

/// A sequence of launches that is ready to replay.
class ReplayableGraph {
public:
    ReplayableGraph() = default;

    /// Captures what `record(stream)` launches. Nothing runs.
    template <class Record>
    ReplayableGraph(const Stream& stream, Record&& record) {
        check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "beginning a capture");
        try {
            record(stream.get());
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
        cudaGraphDestroy(graph);
        check(made, "instantiating a graph");
        // Now, so that the first replay need not.
        const cudaError_t uploaded = cudaGraphUpload(graph_, stream.get());
        if (uploaded != cudaSuccess) {
            cudaGraphExecDestroy(graph_);
        }
        check(uploaded, "uploading a graph");
    }
    ReplayableGraph(ReplayableGraph&& other) noexcept
        : graph_(std::exchange(other.graph_, nullptr)), nodes_(other.nodes_) {}
    ReplayableGraph& operator=(ReplayableGraph&& other) noexcept {
        std::swap(graph_, other.graph_);
        std::swap(nodes_, other.nodes_);
        return *this;
    }
    ~ReplayableGraph() {
        if (graph_ != nullptr) {
            cudaGraphExecDestroy(graph_);
        }
    }

    /// Puts one replay onto a stream. The host does not wait.
    void launch(cudaStream_t stream) const { check(cudaGraphLaunch(graph_, stream), "replaying a graph"); }

    [[nodiscard]] explicit operator bool() const noexcept { return graph_ != nullptr; }
    /// Copies and kernels in the graph.
    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_; }

private:
    cudaGraphExec_t graph_ = nullptr;
    std::size_t nodes_ = 0;
};

}  // namespace totograph::cuda
