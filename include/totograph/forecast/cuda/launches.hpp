// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/runtime/device_loop.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/forecast/cuda/graphs.hpp>
#include <totograph/forecast/for_each_program.hpp>

namespace totograph::cuda {

/// The launches of a forecast, captured in one of the ways of `Capture` and ready to replay.
///
/// A forecast is the inputs' copy, its programs in order, each so many times as `Runs` says for its horizon, and the
/// end. `recording` is a pair of what records the first and the last of these onto a stream.
///
/// @tparam copy_is_optional  whether a forecast may leave out the copy, which is one node
template <class Executor, std::size_t programs, bool copy_is_optional>
class ForecastLaunches {
public:
    /// How often each program runs.
    using Runs = std::array<Index, programs>;

    ForecastLaunches() = default;

    /// Captures; nothing runs.
    ///
    /// @param longest   of the longest forecast
    /// @param shortest  of the shortest
    template <class Recording>
    ForecastLaunches(Capture capture, const Runs& longest, const Runs& shortest, const Stream& stream,
                     const Executor& executor, const Recording& recording)
        : capture_(capture), longest_(longest) {
        switch (capture) {
            case Capture::none: break;
            case Capture::whole:
                whole_ = ReplayableGraph(
                    stream, [&](cudaStream_t to) { launch_programs(to, longest, executor, recording); }, true,
                    copy_is_optional);
                if (longest != shortest) {
                    capture_each(stream, executor, recording);
                }
                break;
            case Capture::regional: capture_each_region(stream, executor, recording); break;
            case Capture::device_loop: capture_with_loops(shortest, stream, executor, recording); break;
        }
    }

    /// Puts a forecast onto a stream. The host does not wait. The memory that `Capture::device_loop` reads its numbers
    /// of rounds from is in use until the forecast has ended.
    /// @param copies  whether graphs copy the inputs, where that is optional; without graphs, what is recorded says so
    template <class Recording>
    void launch(cudaStream_t stream, const Runs& runs, const Executor& executor, const Recording& recording,
                bool copies) const {
        if (capture_ == Capture::none) {
            launch_programs(stream, runs, executor, recording);
        } else if (capture_ == Capture::device_loop) {
            set_rounds(runs);
            run_copy(whole_, copies);
            whole_.launch(stream);
        } else if (whole_ && runs == longest_) {
            run_copy(whole_, copies);
            whole_.launch(stream);
        } else {
            run_copy(begin_.front(), copies);
            for (std::size_t program = 0; program < programs; ++program) {
                for (Index left = runs[program]; left > 0; --left) {
                    replay(program == 0 && left == runs[0] ? begin_ : each_[program], stream);
                }
            }
            replay(end_, stream);
        }
    }

    /// Replays every graph once, in the order of a forecast, so that each one is on the device before it is needed.
    void launch_each(cudaStream_t stream) const {
        if (capture_ == Capture::device_loop) {
            set_rounds(longest_);
        }
        if (whole_) {
            whole_.launch(stream);
        }
        for_each_part([&](const Graphs& graphs) { replay(graphs, stream); });
    }

    /// Graphs that such a forecast replays.
    [[nodiscard]] Index replays(const Runs& runs) const noexcept {
        if (capture_ == Capture::none) {
            return 0;
        }
        if (whole_ && (capture_ == Capture::device_loop || runs == longest_)) {
            return 1;
        }
        Index count = static_cast<Index>(begin_.size() + end_.size());
        for (std::size_t program = 0; program < programs; ++program) {
            count += static_cast<Index>(each_[program].size()) * (runs[program] - (program == 0 ? 1 : 0));
        }
        return count;
    }

    /// Graphs.
    [[nodiscard]] std::size_t graph_count() const noexcept {
        std::size_t count = whole_ ? 1 : 0;
        for_each_part([&](const Graphs& graphs) { count += graphs.size(); });
        return count;
    }

    /// Copies and kernels in the graph of a whole forecast, or in all graphs where there is none of the whole.
    [[nodiscard]] std::size_t node_count() const noexcept {
        if (whole_) {
            return whole_.node_count();
        }
        std::size_t count = 0;
        for_each_part([&](const Graphs& graphs) { count += node_count_of(graphs); });
        return count;
    }

private:
    static void run_copy(const ReplayableGraph& graph, bool copies) {
        if constexpr (copy_is_optional) {
            graph.run_first(copies);
        }
    }

    template <class Visit>
    void for_each_part(const Visit& visit) const {
        visit(begin_);
        for (const Graphs& graphs : each_) {
            visit(graphs);
        }
        visit(end_);
    }

    template <class Recording>
    static void launch_programs(cudaStream_t stream, const Runs& runs, const Executor& executor,
                                const Recording& recording) {
        recording.first(stream);
        for_each_program<programs>([&]<std::size_t which>() {
            for (Index left = runs[which]; left > 0; --left) {
                executor.template launch<which>(stream);
            }
        });
        recording.second(stream);
    }

    /// Whether the first program runs more than once, so that it is needed without what comes before it, too.
    [[nodiscard]] bool repeats_first() const { return longest_[0] > 1; }

    template <class Recording>
    void capture_each(const Stream& stream, const Executor& executor, const Recording& recording) {
        const auto record = [&](cudaStream_t to) {
            recording.first(to);
            executor.template launch<0>(to);
        };
        begin_.emplace_back(stream, record, true, copy_is_optional);
        for_each_program<programs>([&]<std::size_t which>() {
            if (longest_[which] > 0 && (which > 0 || repeats_first())) {
                each_[which].emplace_back(stream, [&](cudaStream_t to) { executor.template launch<which>(to); });
            }
        });
        end_.emplace_back(stream, recording.second);
    }

    template <class Recording>
    void capture_each_region(const Stream& stream, const Executor& executor, const Recording& recording) {
        capture_regions<Executor, 0>(begin_, stream, executor, recording.first, copy_is_optional);
        for_each_program<programs>([&]<std::size_t which>() {
            if (longest_[which] > 0 && (which > 0 || repeats_first())) {
                capture_regions<Executor, which>(each_[which], stream, executor, [](cudaStream_t) {});
            }
        });
        end_.emplace_back(stream, recording.second);
    }

    /// A program that runs once in every forecast needs no loop.
    template <class Recording>
    void capture_with_loops(const Runs& shortest, const Stream& stream, const Executor& executor,
                            const Recording& recording) {
        rounds_ = PinnedMemory(programs * sizeof(std::int32_t));
        left_ = DeviceMemory(programs * sizeof(std::int32_t));
        const Stream body;
        const auto record = [&](cudaStream_t to) {
            recording.first(to);
            for_each_program<programs>([&]<std::size_t which>() {
                if (longest_[which] == 1 && shortest[which] == 1) {
                    executor.template launch<which>(to);
                } else if (longest_[which] > 0) {
                    capture_loop(to, body, reinterpret_cast<const std::int32_t*>(rounds_.data()) + which,
                                 reinterpret_cast<std::int32_t*>(left_.data()) + which,
                                 [&](cudaStream_t within) { executor.template launch<which>(within); });
                }
            });
            recording.second(to);
        };
        whole_ = ReplayableGraph(stream, record, true, copy_is_optional);
    }

    void set_rounds(const Runs& runs) const {
        for (std::size_t program = 0; program < programs; ++program) {
            reinterpret_cast<std::int32_t*>(rounds_.data())[program] = static_cast<std::int32_t>(runs[program]);
        }
    }

    Capture capture_ = Capture::none;
    Runs longest_{};
    ReplayableGraph whole_;
    Graphs begin_;                       ///< What comes before the programs, and the first one once.
    std::array<Graphs, programs> each_;  ///< Each program alone.
    Graphs end_;
    PinnedMemory rounds_;
    DeviceMemory left_;
};

}  // namespace totograph::cuda
