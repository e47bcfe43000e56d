// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/package/interface/series.hpp>

namespace totograph::package {

/// The values of a series that lie in a device's memory, copied to the host's with their strides, so that gaps are
/// found and rows are read as those of any other series.
class CopyOfDevice {
public:
    /// Makes `series` point to the copy where the flags say that its values are on a device; else does nothing.
    /// `copy(from, to)` copies numbers that follow each other. Throws `Error`: `invalid_argument` for flags that this
    /// version does not know, sizes that no memory has, and strides that are negative; and what `copy` throws.
    template <class Copy>
    CopyOfDevice(totograph_series& series, std::uint32_t flags, const Copy& copy) {
        if ((flags & ~std::uint32_t{TOTOGRAPH_SERIES_ON_DEVICE}) != 0) {
            throw Error(ErrorCode::invalid_argument, "The flags " + std::to_string(flags) +
                                                         " ask for what only a package of a later version has; compile "
                                                         "the package anew.");
        }
        const bool is_empty = series.batch < 1 || series.variates < 1 || series.steps < 1 || series.values == nullptr;
        if (flags == 0 || is_empty) {
            return;  // whoever checks the series says so
        }
        SeriesOfCaller::require_countable(series);
        values_.resize(reach(series));
        copy(series.values, std::span<float>(values_));
        series.values = values_.data();
    }
    CopyOfDevice(const CopyOfDevice&) = delete;
    CopyOfDevice& operator=(const CopyOfDevice&) = delete;
    ~CopyOfDevice() = default;

private:
    /// How many numbers lie from the first to the last.
    static std::size_t reach(const totograph_series& series) {
        const std::int64_t(&strides)[3] = series.values_strides;
        if (strides[0] == 0 && strides[1] == 0 && strides[2] == 0) {
            return static_cast<std::size_t>(series.batch * series.variates * series.steps);
        }
        constexpr Index most = Index{1} << 40;
        const Index extents[3]{series.batch, series.variates, series.steps};
        Index last = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const Index apart = extents[axis] - 1;
            if (apart > 0 && (strides[axis] < 0 || strides[axis] > (most - last) / apart)) {
                throw Error(ErrorCode::invalid_argument,
                            "A series on a device cannot have the strides " + std::to_string(strides[0]) + ", " +
                                std::to_string(strides[1]) + ", " + std::to_string(strides[2]) +
                                "; pass rows that ascend in memory.");
            }
            last += apart * strides[axis];
        }
        return static_cast<std::size_t>(last) + 1;
    }

    std::vector<float> values_;
};

}  // namespace totograph::package
