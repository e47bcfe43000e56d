// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/runtime/device_loop.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

/// The launches of a forecast, captured in one of the ways of `Capture` and ready to replay.
///
/// A forecast is the inputs' copy, the program 0, the program 1 for each further patch (from `first_patch` on), and the
/// end. `recording` is a pair of what records the first and the last of these onto a stream.
template <class Executor>
class ForecastLaunches {
public:
    ForecastLaunches() = default;

    /// Captures; nothing runs.
    ///
    /// @param patches  of the longest forecast
    template <class Recording>
    ForecastLaunches(Capture capture, Index first_patch, Index patches, const Stream& stream, const Executor& executor,
                     const Recording& recording)
        : capture_(capture), first_patch_(first_patch), patches_(patches) {
        const auto begin = [&](cudaStream_t to) {
            recording.first(to);
            executor.template launch<0>(to);
        };
        const bool has_further = patches > first_patch;
        switch (capture) {
            case Capture::none: break;
            case Capture::whole:
                whole_ = ReplayableGraph(stream, [&](cudaStream_t to) {
                    begin(to);
                    for (Index patch = first_patch; patch < patches; ++patch) {
                        executor.template launch<1>(to);
                    }
                    recording.second(to);
                });
                if (patches > 1) {
                    begin_.emplace_back(stream, begin);
                    step_.emplace_back(stream, [&](cudaStream_t to) { executor.template launch<1>(to); });
                    end_.emplace_back(stream, recording.second);
                }
                break;
            case Capture::regional:
                capture_regions<0>(begin_, stream, executor, recording.first);
                if (has_further) {
                    capture_regions<1>(step_, stream, executor, [](cudaStream_t) {});
                }
                end_.emplace_back(stream, recording.second);
                break;
            case Capture::device_loop: {
                rounds_ = PinnedMemory(sizeof(std::int32_t));
                left_ = DeviceMemory(sizeof(std::int32_t));
                const Stream body;
                whole_ = ReplayableGraph(stream, [&](cudaStream_t to) {
                    begin(to);
                    if (has_further) {
                        capture_loop(to, body, reinterpret_cast<const std::int32_t*>(rounds_.data()),
                                     reinterpret_cast<std::int32_t*>(left_.data()),
                                     [&](cudaStream_t within) { executor.template launch<1>(within); });
                    }
                    recording.second(to);
                });
                break;
            }
        }
    }

    /// Puts a forecast of so many patches onto a stream. The host does not wait. The memory that `Capture::device_loop`
    /// reads its number of rounds from is in use until the forecast has ended.
    template <class Recording>
    void launch(cudaStream_t stream, Index patches, const Executor& executor, const Recording& recording) const {
        if (capture_ == Capture::none) {
            recording.first(stream);
            executor.template launch<0>(stream);
            for (Index patch = first_patch_; patch < patches; ++patch) {
                executor.template launch<1>(stream);
            }
            recording.second(stream);
        } else if (capture_ == Capture::device_loop) {
            *reinterpret_cast<std::int32_t*>(rounds_.data()) = static_cast<std::int32_t>(patches - first_patch_);
            whole_.launch(stream);
        } else if (whole_ && patches == patches_) {
            whole_.launch(stream);
        } else {
            replay(begin_, stream);
            for (Index patch = first_patch_; patch < patches; ++patch) {
                replay(step_, stream);
            }
            replay(end_, stream);
        }
    }

    /// Replays every graph once, in the order of a forecast, so that each one is on the device before it is needed.
    void launch_each(cudaStream_t stream) const {
        if (capture_ == Capture::device_loop) {
            *reinterpret_cast<std::int32_t*>(rounds_.data()) = static_cast<std::int32_t>(patches_ - first_patch_);
        }
        if (whole_) {
            whole_.launch(stream);
        }
        for (const Graphs* graphs : {&begin_, &step_, &end_}) {
            replay(*graphs, stream);
        }
    }

    /// Graphs that a forecast of so many patches replays.
    [[nodiscard]] Index replays(Index patches) const noexcept {
        if (capture_ == Capture::none) {
            return 0;
        }
        if (whole_ && (capture_ == Capture::device_loop || patches == patches_)) {
            return 1;
        }
        return static_cast<Index>(begin_.size() + end_.size()) +
               static_cast<Index>(step_.size()) * (patches - first_patch_);
    }

    /// Graphs.
    [[nodiscard]] std::size_t graph_count() const noexcept {
        return (whole_ ? 1U : 0U) + begin_.size() + step_.size() + end_.size();
    }

    /// Copies and kernels in the graph of a whole forecast, or in all graphs where there is none of the whole.
    [[nodiscard]] std::size_t node_count() const noexcept {
        if (whole_) {
            return whole_.node_count();
        }
        std::size_t count = 0;
        for (const auto* graphs : {&begin_, &step_, &end_}) {
            for (const ReplayableGraph& graph : *graphs) {
                count += graph.node_count();
            }
        }
        return count;
    }

private:
    using Graphs = std::vector<ReplayableGraph>;

    static void replay(const Graphs& graphs, cudaStream_t stream) {
        for (const ReplayableGraph& graph : graphs) {
            graph.launch(stream);
        }
    }

    /// A graph for each region of a program; `before` is recorded at the head of the first.
    template <std::size_t which, class Before>
    static void capture_regions(Graphs& graphs, const Stream& stream, const Executor& executor, const Before& before) {
        const std::vector<std::size_t> begins = Executor::template regions<which>();
        for (std::size_t region = 0; region < begins.size(); ++region) {
            const bool is_last = region + 1 == begins.size();
            const std::size_t end = is_last ? Executor::template launches<which>() : begins[region + 1];
            graphs.emplace_back(stream, [&](cudaStream_t to) {
                if (region == 0) {
                    before(to);
                }
                executor.template launch_some<which>(to, begins[region], end);
            });
        }
    }

    Capture capture_ = Capture::none;
    Index first_patch_ = 0;
    Index patches_ = 0;
    ReplayableGraph whole_;
    Graphs begin_;
    Graphs step_;
    Graphs end_;
    PinnedMemory rounds_;
    DeviceMemory left_;
};

}  // namespace totograph::cuda
