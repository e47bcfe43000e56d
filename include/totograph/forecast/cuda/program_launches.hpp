// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/forecast/cuda/graphs.hpp>
#include <totograph/forecast/for_each_program.hpp>

namespace totograph::cuda {

/// The launches of programs that run one by one (`runs_apart`), captured and ready to replay: for each program what
/// comes before it and the program, and what makes the result of what ran last. Nothing runs so often that a loop on
/// the device would help: `Capture::device_loop` is `Capture::whole` here.
///
/// `recording` is what records onto a stream: `recording.template before<which>(stream)` and `recording.end(stream)`.
template <class Executor, std::size_t programs>
class ProgramLaunches {
public:
    ProgramLaunches() = default;

    /// Captures; nothing runs.
    template <class Recording>
    ProgramLaunches(Capture capture, const Stream& stream, const Executor& executor, const Recording& recording)
        : capture_(capture) {
        if (capture == Capture::none) {
            return;
        }
        for_each_program<programs>([&]<std::size_t which>() {
            const auto before = [&](cudaStream_t to) { recording.template before<which>(to); };
            if (capture == Capture::regional) {
                capture_regions<Executor, which>(each_[which], stream, executor, before);
            } else {
                each_[which].emplace_back(stream, [&](cudaStream_t to) {
                    before(to);
                    executor.template launch<which>(to);
                });
            }
        });
        end_.emplace_back(stream, [&](cudaStream_t to) { recording.end(to); });
    }

    /// Puts a program onto a stream. The host does not wait.
    template <std::size_t which, class Recording>
    void launch(cudaStream_t stream, const Executor& executor, const Recording& recording) const {
        if (capture_ == Capture::none) {
            recording.template before<which>(stream);
            executor.template launch<which>(stream);
        } else {
            replay(each_[which], stream);
        }
    }

    /// Puts what makes the result onto a stream.
    template <class Recording>
    void launch_end(cudaStream_t stream, const Recording& recording) const {
        if (capture_ == Capture::none) {
            recording.end(stream);
        } else {
            replay(end_, stream);
        }
    }

    /// Replays every graph once, so that each one is on the device before it is needed.
    void launch_each(cudaStream_t stream) const {
        for (const Graphs& graphs : each_) {
            replay(graphs, stream);
        }
        replay(end_, stream);
    }

    /// Graphs.
    [[nodiscard]] std::size_t graph_count() const noexcept {
        std::size_t count = end_.size();
        for (const Graphs& graphs : each_) {
            count += graphs.size();
        }
        return count;
    }

    /// Copies and kernels in all graphs.
    [[nodiscard]] std::size_t node_count() const noexcept {
        std::size_t count = node_count_of(end_);
        for (const Graphs& graphs : each_) {
            count += node_count_of(graphs);
        }
        return count;
    }

private:
    Capture capture_ = Capture::none;
    std::array<Graphs, programs> each_;
    Graphs end_;
};

}  // namespace totograph::cuda
