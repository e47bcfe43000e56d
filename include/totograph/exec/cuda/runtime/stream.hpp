// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/stream_use.hpp>

namespace totograph::cuda {

/// A stream of one's own, of the device that is current when it is made.
class Stream {
public:
    explicit Stream(StreamUse use = StreamUse::kernels);
    Stream(Stream&& other) noexcept
        : stream_(std::exchange(other.stream_, nullptr)), device_(other.device_), use_(other.use_) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(stream_, other.stream_);
        std::swap(device_, other.device_);
        std::swap(use_, other.use_);
        return *this;
    }
    ~Stream();

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
    explicit Event(bool times);
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&&) = delete;
    ~Event();
    void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "recording an event"); }
    /// Milliseconds from an event to this one, which both have happened.
    [[nodiscard]] float since(const Event& start) const;
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
    ~PendingWork();

    /// All that has been put onto the stream so far.
    void record(cudaStream_t stream) {
        event_.record(stream);
        is_pending_ = true;
    }
    /// The host waits for the work, if there is any that has not ended.
    void wait();

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
    /// @param is_logged   whether the log tells of it
    /// @param keeps_first  for `run_first`
    template <class Record>
    ReplayableGraph(const Stream& stream, const Record& record, bool is_logged = true, bool keeps_first = false)
        : ReplayableGraph() {  // whose destructor runs when what follows throws
        // What is the same for all that is recorded is compiled once.
        const auto call = [](const void* recorded, cudaStream_t to) { (*static_cast<const Record*>(recorded))(to); };
        capture(stream, &record, call, is_logged, keeps_first);
    }
    ReplayableGraph(ReplayableGraph&& other) noexcept
        : graph_(std::exchange(other.graph_, nullptr)),
          captured_(std::exchange(other.captured_, nullptr)),
          first_(other.first_),
          runs_first_(other.runs_first_),
          nodes_(other.nodes_) {}
    ReplayableGraph& operator=(ReplayableGraph&& other) noexcept {
        std::swap(graph_, other.graph_);
        std::swap(captured_, other.captured_);
        std::swap(first_, other.first_);
        std::swap(runs_first_, other.runs_first_);
        std::swap(nodes_, other.nodes_);
        return *this;
    }
    ~ReplayableGraph();

    /// Puts one replay onto a stream. The host does not wait.
    void launch(cudaStream_t stream) const { check(cudaGraphLaunch(graph_, stream), "replaying a graph"); }

    /// Whether the next replays run what was captured first, a copy; of a graph that `keeps_first`.
    void run_first(bool runs) const;

    [[nodiscard]] explicit operator bool() const noexcept { return graph_ != nullptr; }
    /// Copies and kernels in the graph.
    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_; }

private:
    using RecordFunction = void (*)(const void* record, cudaStream_t stream);

    void capture(const Stream& stream, const void* record, RecordFunction call, bool is_logged, bool keeps_first);
    void keep_first(cudaGraph_t captured);

    cudaGraphExec_t graph_ = nullptr;
    cudaGraph_t captured_ = nullptr;  ///< What `first_` belongs to.
    cudaGraphNode_t first_ = nullptr;
    mutable bool runs_first_ = true;
    std::size_t nodes_ = 0;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/runtime/impl/stream.hpp>
#endif
