// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/core/log.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/idle_streams.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph::cuda {

/// A stream of one's own, of the device that is current when it is made.
class Stream {
public:
    explicit Stream(StreamUse use = StreamUse::kernels) : use_(use) {
        check(cudaGetDevice(&device_), "asking for the device in use");
        stream_ = IdleStreams::instance().take(device_, use);
    }
    Stream(Stream&& other) noexcept
        : stream_(std::exchange(other.stream_, nullptr)), device_(other.device_), use_(other.use_) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(stream_, other.stream_);
        std::swap(device_, other.device_);
        std::swap(use_, other.use_);
        return *this;
    }
    ~Stream() {
        if (stream_ != nullptr) {
            IdleStreams::instance().give_back(device_, use_, stream_);
        }
    }

    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
    void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for a stream"); }

private:
    cudaStream_t stream_ = nullptr;
    int device_ = 0;
    StreamUse use_ = StreamUse::kernels;
};

/// A point in a stream.
class Event {
public:
    /// One that times tells how long lies between it and another; one that does not costs less.
    explicit Event(bool times) {
        check(cudaEventCreateWithFlags(&event_, times ? cudaEventDefault : cudaEventDisableTiming),
              "creating an event");
    }
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&&) = delete;
    ~Event() {
        if (event_ != nullptr) {
            cudaEventDestroy(event_);
        }
    }
    void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "recording an event"); }
    /// Milliseconds from an event to this one, which both have happened.
    [[nodiscard]] float since(const Event& start) const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "reading the time between events");
        return milliseconds;
    }
    [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

/// Work on streams of others that uses memory of ours. At the end of its life it waits for the work.
class PendingWork {
public:
    PendingWork() = default;
    PendingWork(PendingWork&& other) noexcept
        : event_(std::move(other.event_)), is_pending_(std::exchange(other.is_pending_, false)) {}
    PendingWork& operator=(PendingWork&&) = delete;
    ~PendingWork() {
        if (is_pending_) {
            cudaEventSynchronize(event_.get());
        }
    }

    /// All that has been put onto the stream so far.
    void record(cudaStream_t stream) {
        event_.record(stream);
        is_pending_ = true;
    }
    /// The host waits for the work, if there is any that has not ended.
    void wait() {
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

private:
    Event event_{false};
    bool is_pending_ = false;
};

/// A sequence of launches that is ready to replay. The first replay brings it to the device: as long as a graph that
/// was brought there ahead (`cudaGraphUpload`) has not been replayed, all kernels of all graphs begin later, by as much
/// as `IdleStreams` tells of streams.
class ReplayableGraph {
public:
    ReplayableGraph() = default;

    /// Captures what `record(stream)` launches. Nothing runs.
    /// @param is_logged  whether the log tells of it
    template <class Record>
    ReplayableGraph(const Stream& stream, Record&& record, bool is_logged = true) {
        const auto begin = std::chrono::steady_clock::now();
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
        if (is_logged) {
            log(LogTopic::capture, [&] {
                const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
                return "captured a graph of " + std::to_string(nodes_) + " nodes in " +
                       totograph::detail::number_text(taken.count(), 3) + " ms";
            });
        }
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
