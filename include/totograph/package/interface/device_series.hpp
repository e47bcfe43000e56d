// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/package/interface/series.hpp>

namespace totograph::package {

/// Whether the values of a series are on a device. Throws `Error(invalid_argument)` for flags that this version does
/// not know.
inline bool is_on_device(std::uint32_t flags) {
    if ((flags & ~std::uint32_t{TOTOGRAPH_SERIES_ON_DEVICE}) != 0) {
        throw Error(ErrorCode::invalid_argument, "The flags " + std::to_string(flags) +
                                                     " ask for what only a package of a later version has; compile "
                                                     "the package anew.");
    }
    return flags != 0;
}

/// A series whose values a caller has in a device's memory. `of_host` is the same one (`SeriesOfCaller`), read with
/// `ValuesOn::device`.
inline cuda::DeviceSeries device_series(const totograph_series& given, const SeriesOfCaller& of_host) {
    cuda::DeviceSeries result{.series = of_host.series(), .values = given.values, .nan_is_gap = given.nan_is_gap != 0};
    std::copy_n(given.values_strides, result.strides.size(), result.strides.begin());
    return result;
}

}  // namespace totograph::package
