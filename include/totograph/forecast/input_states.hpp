// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph {

/// Writes requests, which have been checked, to the input states of a forecast's programs (`states.hpp`), padded to the
/// bucket. States that the programs do not have are left out. For families whose models read patches.
class InputStates {
public:
    InputStates(const ForecastSizes& sizes, StateMemory memory) : sizes_(sizes), memory_(memory) {}

    /// The draws are those of `seed`, from sample number `first_sample` on.
    /// @param imputation  of gaps; that of the family, if it says one
    void fill(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample = 0,
              Imputation imputation = Imputation::as_given) const noexcept;

    /// Of `fill`, the marks of observed steps alone.
    void fill_observed(const Series& series) const noexcept;

    /// After `fill`, of models with patches of one step: takes steps before the first observed one for no history. The
    /// others move to the front, and `states::length` counts them. A series without any observation stays.
    void drop_leading_gaps(const Series& series) const noexcept;

    /// What of the bucket is asked for, alone.
    /// @param context_patches  of the longest series; 0 for whoever does not know: then its axis is not bounded
    void fill_request(const Bucket& request, Index context_patches = 0) const noexcept;

private:
    [[nodiscard]] float* floats(std::string_view name) const noexcept { return memory_.floats(name); }
    [[nodiscard]] std::int32_t* integers(std::string_view name) const noexcept { return memory_.integers(name); }

    void fill_series(const Series& series, Imputation imputation) const noexcept;

    /// Patches of the context first, the newest step at the end of the last one; then padding. `copy` writes the steps
    /// of one variate of one series, which begin at an element of its values.
    template <class Copy>
    void fill_rows(const Series& series, float* rows, const Copy& copy) const noexcept {
        if (rows == nullptr) {
            return;
        }
        const Index patches = divide_rounding_up(series.steps, sizes_.patch_size);
        const Index padding = patches * sizes_.patch_size - series.steps;
        const Index capacity = sizes_.context_steps();
        const SeriesExtents written = memory_.unpadded().within({sizes_.batch, sizes_.variates, capacity});
        for (Index b = 0; b < written.batch; ++b) {
            for (Index v = 0; v < written.variates; ++v) {
                const bool is_given = b < series.batch && v < series.variates;
                float* const row = rows + (b * sizes_.variates + v) * capacity;
                const Index begin = is_given ? padding : written.steps;
                const Index end = is_given ? padding + series.steps : written.steps;
                std::fill(row, row + begin, 0.0F);
                std::fill(row + end, row + written.steps, 0.0F);
                if (is_given) {
                    copy(series.row_begin(b * series.variates + v), row + begin);
                }
                memory_.written(row + capacity);
            }
        }
    }

    static void copy_values(const Series& series, Index from, float* to) noexcept;

    static void copy_observed(const Series& series, Index from, float* to) noexcept;

    /// One id for each patch; padded variates are alone in their group.
    void fill_groups(const Series& series) const noexcept;

    void fill_exogenous(const Series& series, const Bucket& request) const noexcept;

    ForecastSizes sizes_;
    StateMemory memory_;
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/input_states.hpp>
#endif
