// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/copy_few.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/gather_series.hpp>
#include <totograph/forecast/cuda/observed_input.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::cuda {

/// The inputs of a forecaster on the host, in page-locked memory, and their way to the device.
template <class Executor>
class StagedInputs {
    using Observed = ObservedInput<Executor>;
    static constexpr std::size_t input_bytes = Executor::States::input_bytes;

public:
    /// Whether the graph of a forecast copies its inputs; else its call does.
    static constexpr bool graph_copies = !Observed::is_kept;

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
    void forget() noexcept { observed_.forget(); }

    /// Writes a request here.
    void fill(const ForecastPlan& plan, const Series& series, const Bucket& request, std::uint64_t seed,
              std::uint32_t first_sample) {
        forget();
        const auto state = states();
        plan.fill(state, plan.sizes, series, request, seed, first_sample);
    }

    /// Writes a request, all of it or all but the marks of observed steps that are here; and where the graph copies no
    /// inputs, copies as much.
    void bring(const ForecastPlan& plan, const Executor& executor, const Series& series, const Bucket& request,
               const ForecastOptions& options, cudaStream_t stream) {
        if (!observed_.has(series)) {
            fill(plan, series, request, options.seed, options.first_sample);
            if constexpr (!graph_copies) {
                copy(executor, stream);
                observed_.hold(series);
            }
            return;
        }
        assert(series.observed.empty());  // else what is on its way might be written again
        const EarlyCopies early(*this, plan, executor, stream);
        plan.fill(early, plan.sizes, series, request, options.seed, options.first_sample);
        copy_around(executor, stream, in_order(early.copied(), {Observed::begin, Observed::end}));
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
            copy_around(executor, stream, in_order(series, unneeded));
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

    static std::array<Range, 2> in_order(const Range& one, const Range& another) {
        return one.begin < another.begin ? std::array{one, another} : std::array{another, one};
    }

    /// Where an input lies; nowhere, if there is none of this name.
    static constexpr Range range_of(std::string_view name) {
        const auto* const entry = Executor::Layout::find(name);
        const std::ptrdiff_t offset = Executor::input_offset(name);
        return offset < 0 ? Range{}
                          : Range{static_cast<std::size_t>(offset), static_cast<std::size_t>(offset) + entry->bytes()};
    }

    /// Finds all states but the marks, and copies large parts of a series without gaps while the rest is written. Where
    /// there is no gap, a family that imputes leaves as it is what was written (`Family::imputation`).
    class EarlyCopies {
    public:
        EarlyCopies(const StagedInputs& inputs, const ForecastPlan& plan, const Executor& executor, cudaStream_t stream)
            : inputs_(inputs), executor_(executor), stream_(stream), is_early_(plan.imputation.has_value()) {}

        void* operator()(std::string_view name) const {
            return name == states::observed ? nullptr : inputs_.states()(name);
        }
        void written(const void* end) const noexcept {
            const auto here = static_cast<std::size_t>(static_cast<const std::byte*>(end) - inputs_.data());
            if (is_early_ && here > end_ && here <= series.end && here - end_ >= part_bytes && error_ == cudaSuccess) {
                error_ = cudaMemcpyAsync(executor_.inputs() + end_, inputs_.data() + end_, here - end_,
                                         cudaMemcpyHostToDevice, stream_);
                end_ = here;
            }
        }
        /// What is on its way. Throws `Error` where a copy was refused.
        [[nodiscard]] Range copied() const {
            check(error_, "copying the inputs");
            return end_ > series.begin ? Range{series.begin, end_} : Range{};
        }

    private:
        static constexpr Range series = range_of(states::series);
        /// A call takes as long as the way of some 64 KiB.
        static constexpr std::size_t part_bytes = 196608;

        const StagedInputs& inputs_;
        const Executor& executor_;
        cudaStream_t stream_;
        bool is_early_;
        mutable std::size_t end_ = series.begin;
        mutable cudaError_t error_ = cudaSuccess;
    };

    /// Copies the inputs but for two parts of them, the second of which begins behind the first or is empty.
    void copy_around(const Executor& executor, cudaStream_t stream, const std::array<Range, 2>& left_out) const {
        std::size_t from = 0;
        for (const Range& part : left_out) {
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
    Observed observed_;
};

}  // namespace totograph::cuda
