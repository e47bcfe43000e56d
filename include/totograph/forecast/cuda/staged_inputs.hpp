// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/copy_few.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/gather_series.hpp>
#include <totograph/forecast/cuda/held_series.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::cuda {

/// The inputs of a forecaster on the host, in page-locked memory, and their way to the device.
template <class Executor>
class StagedInputs {
    static constexpr std::size_t input_bytes = Executor::States::input_bytes;

public:
    /// Whether the graph of a forecast copies its inputs; else its call does.
    static constexpr bool graph_copies = !HeldSeries<Executor>::is_kept;

    /// @param more  bytes behind the inputs
    explicit StagedInputs(std::size_t more) : memory_(input_bytes + more) {}

    [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size(); }
    /// Finds input states here.
    [[nodiscard]] auto states() const {
        return [this](std::string_view name) -> void* {
            const std::ptrdiff_t offset = Executor::input_offset(name);
            return offset < 0 ? nullptr : memory_.data() + offset;
        };
    }

    /// Copies inputs to the device.
    /// @param further  by so much the bytes lie further behind here than among the inputs
    void copy(const Executor& executor, cudaStream_t stream, std::size_t begin = 0, std::size_t bytes = input_bytes,
              std::size_t further = 0) const {
        check(cudaMemcpyAsync(executor.inputs() + begin, memory_.data() + begin + further, bytes,
                              cudaMemcpyHostToDevice, stream),
              "copying the inputs");
    }

    /// The same right before a program.
    /// @tparam waits_first  as `Executor::waits_first` says of the program
    template <bool waits_first>
    void copy_before_program(const Executor& executor, cudaStream_t stream, std::size_t begin = 0,
                             std::size_t bytes = input_bytes) const {
        if (waits_first && can_copy_few(bytes)) {
            copy_few(executor.inputs() + begin, memory_.data() + begin, bytes, stream);
        } else {
            copy(executor, stream, begin, bytes);
        }
    }

    /// What is here is no longer what a request has left.
    void forget() noexcept { held_.forget(); }

    /// Writes a request here.
    void fill(const ForecastPlan& plan, const Series& series, const Bucket& request, std::uint64_t seed,
              std::uint32_t first_sample) {
        forget();
        const auto state = states();
        plan.fill(state, plan.sizes, series, request, seed, first_sample);
    }

    /// Writes a request, all of it but what is here already; and where the graph copies no inputs, copies as much.
    void bring(const ForecastPlan& plan, const Executor& executor, const Series& series, const Bucket& request,
               const ForecastOptions& options, cudaStream_t stream) {
        const Filling filling(*this, plan, executor, series, stream);
        forget();  // until all of it is on its way
        plan.fill(filling, plan.sizes, series, request, options.seed, options.first_sample);
        if constexpr (!graph_copies) {
            filling.copy_rest();
        }
        held_.hold(series);
    }

    /// The same of a series on the device: what the host has of it is copied, and a kernel brings the rest.
    /// @param used  the steps of it that are used
    void bring(const ForecastPlan& plan, const Executor& executor, SeriesGather gather, const Series& used,
               const Bucket& request, const ForecastOptions& options, cudaStream_t stream) {
        constexpr Range series = range_of(states::series);
        constexpr Range observed = range_of(states::observed);
        static_assert(series.begin < series.end, "totograph: a family with an imputation has the input `series`.");
        forget();
        Series bare = used;
        bare.observed = {};  // for a family that imputes
        fill_without(states::series, states::observed, plan, bare, request, options);
        gather.has_marks = !used.observed.empty() && observed.begin < observed.end;
        if (gather.has_marks) {
            const auto state = states();
            InputStates(plan.sizes, state).fill_observed(used);
        }
        if constexpr (graph_copies) {
            copy(executor, stream);  // one call, and few bytes
        } else {
            const Range unneeded = gather.has_marks ? Range{} : observed;
            copy_around(executor, stream, std::array{series, unneeded});
        }
        gather.series = reinterpret_cast<float*>(executor.inputs() + series.begin);
        if constexpr (observed.begin < observed.end) {
            gather.observed = reinterpret_cast<float*>(executor.inputs() + observed.begin);
        }
        gather.launch(stream);
    }

private:
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    /// Where an input lies; nowhere, if there is none of this name.
    static constexpr Range range_of(std::string_view name) {
        const auto* const entry = Executor::Layout::find(name);
        const std::ptrdiff_t offset = Executor::input_offset(name);
        return offset < 0 ? Range{}
                          : Range{static_cast<std::size_t>(offset), static_cast<std::size_t>(offset) + entry->bytes()};
    }

    /// The rows of a series that may hold anything but padding, as one copy takes them: whole rows of steps, or so many
    /// of the first steps of each.
    struct Rows {
        std::size_t pitch = 0;  ///< From one row to the next.
        std::size_t width = 0;  ///< Of a row.
        std::size_t count = 0;

        Rows(const ForecastSizes& sizes, const SeriesExtents& unpadded) {
            const auto step_bytes = [](Index steps) { return static_cast<std::size_t>(steps) * sizeof(float); };
            const auto batch = static_cast<std::size_t>(unpadded.batch);
            const Rows of_steps(step_bytes(sizes.context_steps()), step_bytes(unpadded.steps),
                                static_cast<std::size_t>((unpadded.batch - 1) * sizes.variates + unpadded.variates));
            const Rows of_variates(step_bytes(sizes.variates * sizes.context_steps()),
                                   step_bytes(unpadded.variates * sizes.context_steps()), batch);
            *this = of_steps.bytes() < of_variates.bytes() ? of_steps : of_variates;
        }

        [[nodiscard]] std::size_t bytes() const { return width * count; }
        [[nodiscard]] bool are_one() const { return width == pitch || count == 1; }

    private:
        Rows(std::size_t between, std::size_t bytes_of_row, std::size_t rows)
            : pitch(between), width(bytes_of_row), count(rows) {}
    };

    /// Finds the states for a request, and copies large parts of a series without gaps while the rest is written. Of a
    /// family that says how it imputes: such a one writes the series row by row, and once where there is no gap.
    class Filling {
    public:
        Filling(const StagedInputs& inputs, const ForecastPlan& plan, const Executor& executor, const Series& given,
                cudaStream_t stream)
            : inputs_(inputs),
              executor_(executor),
              stream_(stream),
              keeps_marks_(inputs.held_.has_marks(given)),
              keeps_padding_(plan.imputation.has_value()),
              unpadded_(keeps_padding_ ? inputs.held_.unpadded(given, plan.sizes) : SeriesExtents::all()),
              rows_(plan.sizes, inputs.held_.unpadded(given, plan.sizes)),
              is_early_(!graph_copies && keeps_padding_ && given.observed.empty() && rows_.are_one()) {}

        void* operator()(std::string_view name) const {
            return keeps_marks_ && name == states::observed ? nullptr : inputs_.states()(name);
        }
        [[nodiscard]] SeriesExtents unpadded() const noexcept { return unpadded_; }
        void written(const void* end) const noexcept {
            const auto here = static_cast<std::size_t>(static_cast<const std::byte*>(end) - inputs_.data());
            if (is_early_ && here > end_ && here <= series.end && here - end_ >= part_bytes && error_ == cudaSuccess) {
                error_ = cudaMemcpyAsync(executor_.inputs() + end_, inputs_.data() + end_, here - end_,
                                         cudaMemcpyHostToDevice, stream_);
                end_ = here;
            }
        }

        /// Copies what is not on its way and was written. Throws `Error` where a copy was or is refused.
        void copy_rest() const {
            check(error_, "copying the inputs");
            const bool is_whole = !keeps_padding_ || rows_.are_one();
            const std::size_t used = keeps_padding_ ? rows_.bytes() : all_bytes;
            const auto behind = [&](const Range& state) {
                return Range{is_whole ? std::min(state.begin + used, state.end) : state.begin, state.end};
            };
            inputs_.copy_around(
                executor_, stream_,
                std::array{Range{series.begin, end_}, behind(series), keeps_marks_ ? marks : behind(marks)});
            if (!is_whole) {
                copy_rows(series);
                if (!keeps_marks_) {
                    copy_rows(marks);
                }
            }
        }

    private:
        static constexpr Range series = range_of(states::series);
        static constexpr Range marks{HeldSeries<Executor>::begin, HeldSeries<Executor>::end};
        /// Making a call takes as long as copying some 64 KiB: a part of three times that hides the next call.
        static constexpr std::size_t part_bytes = std::size_t{192} * 1024;
        static constexpr std::size_t all_bytes = input_bytes;

        void copy_rows(const Range& state) const {
            check(cudaMemcpy2DAsync(executor_.inputs() + state.begin, rows_.pitch, inputs_.data() + state.begin,
                                    rows_.pitch, rows_.width, rows_.count, cudaMemcpyHostToDevice, stream_),
                  "copying the inputs");
        }

        const StagedInputs& inputs_;
        const Executor& executor_;
        cudaStream_t stream_;
        bool keeps_marks_;
        bool keeps_padding_;
        SeriesExtents unpadded_;
        Rows rows_;
        bool is_early_;
        mutable std::size_t end_ = series.begin;
        mutable cudaError_t error_ = cudaSuccess;
    };

    /// Copies the inputs but for some parts of them.
    template <std::size_t count>
    void copy_around(const Executor& executor, cudaStream_t stream, std::array<Range, count> left_out) const {
        std::sort(left_out.begin(), left_out.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
        std::size_t from = 0;
        for (const Range& part : left_out) {
            if (part.begin == part.end) {
                continue;
            }
            if (from < part.begin) {
                copy(executor, stream, from, part.begin - from);
            }
            from = std::max(from, part.end);
        }
        if (from < input_bytes) {
            copy(executor, stream, from, input_bytes - from);
        }
    }

    /// `fill` of all states but two.
    void fill_without(std::string_view one, std::string_view another, const ForecastPlan& plan, const Series& series,
                      const Bucket& request, const ForecastOptions& options) const {
        const auto others = [&, all = states()](std::string_view name) -> void* {
            return name == one || name == another ? nullptr : all(name);
        };
        plan.fill(others, plan.sizes, series, request, options.seed, options.first_sample);
    }

    PinnedMemory memory_;
    HeldSeries<Executor> held_;
};

}  // namespace totograph::cuda
