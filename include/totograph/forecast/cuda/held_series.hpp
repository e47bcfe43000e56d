// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::cuda {

/// What the states `series` and `observed` hold, in the staging memory and on the device, of the request before: a
/// request need not write and copy again what is there already. That is padding behind both requests; and the marks of
/// series without gaps, which follow from the sizes of a request, half of what a large one writes and copies.
///
/// @tparam Executor  of programs that run one after the other
template <class Executor>
class HeldSeries {
    static constexpr std::size_t place = Executor::Layout::place_of(states::observed);
    static constexpr bool reads_marks = Executor::Layout::has(states::observed);
    /// Bytes of all inputs from which on it pays: with 233 KiB `readme_22m` of `bench_cuda_toto2` takes 0.332 ms for
    /// 0.342 (H200). With few, one copy in the graph takes less than a call.
    static constexpr std::size_t least_bytes = 131072;

public:
    /// Where the marks lie among the inputs.
    static constexpr std::size_t begin = reads_marks ? Executor::States::offset(place) : 0;
    static constexpr std::size_t end = reads_marks ? begin + Executor::Layout::entries[place].bytes() : 0;
    /// Whether a forecast's call copies the inputs, and not its graph: what is there stays.
    static constexpr bool is_kept = reads_marks && !Executor::States::writes_inputs &&
                                    end <= Executor::States::input_bytes &&
                                    Executor::States::input_bytes >= least_bytes;

    /// Whether both memories hold the marks of a series that fits the bucket.
    [[nodiscard]] bool has_marks(const Series& series) const noexcept {
        return is_kept && is_without_gaps_ && series.observed.empty() && extents_ == series.extents();
    }
    /// Up to where there may be anything but padding now, or with this series, in whole patches.
    [[nodiscard]] SeriesExtents unpadded(const Series& series, const ForecastSizes& sizes) const noexcept {
        const SeriesExtents bucket{sizes.batch, sizes.variates, sizes.context_steps()};
        SeriesExtents both = extents_.with(series.extents()).within(bucket);
        both.steps = round_up(both.steps, sizes.patch_size);
        return both;
    }
    /// A series is, or will be, in both memories.
    void hold(const Series& series) noexcept {
        extents_ = series.extents();
        is_without_gaps_ = series.observed.empty();
    }
    /// Nothing is known of one of them.
    void forget() noexcept {
        extents_ = SeriesExtents::all();
        is_without_gaps_ = false;
    }

private:
    SeriesExtents extents_ = SeriesExtents::all();
    bool is_without_gaps_ = false;
};

}  // namespace totograph::cuda
