// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::cuda {

/// Whether the marks of observed steps (`states::observed`) are on the device already. Those of series without gaps
/// follow from the sizes of a request: a request like the last one need not write and copy them again, which is half of
/// what a large one writes and copies.
///
/// @tparam Executor  of programs that run one after the other
template <class Executor>
class ObservedInput {
    static constexpr std::size_t place = Executor::Layout::place_of(states::observed);
    static constexpr bool has_marks = Executor::Layout::has(states::observed);
    /// Bytes of all inputs from which on it pays: with 233 KiB `readme_22m` of `bench_cuda_toto2` takes 0.332 ms for
    /// 0.342 (H200). With few, one copy in the graph takes less than a call.
    static constexpr std::size_t least_bytes = 131072;

public:
    /// Where the marks lie among the inputs.
    static constexpr std::size_t begin = has_marks ? Executor::States::offset(place) : 0;
    static constexpr std::size_t end = has_marks ? begin + Executor::Layout::entries[place].bytes() : 0;
    /// Whether a forecast's call copies the inputs, and not its graph: what is there stays.
    static constexpr bool is_kept = has_marks && !Executor::States::writes_inputs &&
                                    end <= Executor::States::input_bytes &&
                                    Executor::States::input_bytes >= least_bytes;

    /// Whether both the staging memory and the device hold the marks of a series that fits the bucket.
    [[nodiscard]] bool has(const Series& series) const noexcept {
        return is_kept && series.observed.empty() && held_ == sizes_of(series);
    }
    /// The marks of a series are, or will be, in both.
    void hold(const Series& series) noexcept { held_ = series.observed.empty() ? sizes_of(series) : nothing; }
    /// Nothing is known of one of them.
    void forget() noexcept { held_ = nothing; }

private:
    using Sizes = std::array<Index, 3>;
    static constexpr Sizes nothing{};

    static constexpr Sizes sizes_of(const Series& series) noexcept {
        return {series.batch, series.variates, series.steps};
    }

    Sizes held_{};
};

}  // namespace totograph::cuda
