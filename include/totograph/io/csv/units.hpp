// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace totograph::io {

namespace detail {

/// A unit as a multiple of what its family is counted in.
struct KnownUnit {
    std::string_view name;
    char family = ' ';
    double factor = 1;
};

/// The units that programs choose by a value's size, so that one column has several of them.
inline constexpr KnownUnit known_units[] = {{"B", 'B', 1},
                                            {"byte", 'B', 1},
                                            {"bytes", 'B', 1},
                                            {"kB", 'B', 1e3},
                                            {"KB", 'B', 1e3},
                                            {"MB", 'B', 1e6},
                                            {"GB", 'B', 1e9},
                                            {"TB", 'B', 1e12},
                                            {"PB", 'B', 1e15},
                                            {"KiB", 'B', 0x1p10},
                                            {"MiB", 'B', 0x1p20},
                                            {"GiB", 'B', 0x1p30},
                                            {"TiB", 'B', 0x1p40},
                                            {"PiB", 'B', 0x1p50},
                                            {"b", 'b', 1},
                                            {"kb", 'b', 1e3},
                                            {"Mb", 'b', 1e6},
                                            {"Gb", 'b', 1e9},
                                            {"Tb", 'b', 1e12},
                                            {"ns", 's', 1e-9},
                                            {"us", 's', 1e-6},
                                            {"\xc2\xb5s", 's', 1e-6},
                                            {"\xce\xbcs", 's', 1e-6},
                                            {"ms", 's', 1e-3},
                                            {"s", 's', 1},
                                            {"sec", 's', 1},
                                            {"secs", 's', 1},
                                            {"min", 's', 60},
                                            {"mins", 's', 60},
                                            {"h", 's', 3600},
                                            {"hour", 's', 3600},
                                            {"hours", 's', 3600},
                                            {"day", 's', 86400},
                                            {"days", 's', 86400},
                                            {"d", 's', 86400},
                                            {"week", 's', 604800},
                                            {"weeks", 's', 604800},
                                            {"k", 'n', 1e3},
                                            {"K", 'n', 1e3},
                                            {"M", 'n', 1e6},
                                            {"Mil", 'n', 1e6},
                                            {"G", 'n', 1e9},
                                            {"Bil", 'n', 1e9},
                                            {"T", 'n', 1e12},
                                            {"Tri", 'n', 1e12}};

std::optional<KnownUnit> known_unit(std::string_view name);

}  // namespace detail

/// What a number in the unit `from` is to be multiplied with to be in the unit `to`; nothing where there is no such
/// number that is sure. Knows bytes, bits, times and counts with their prefixes, also per second ("KiB/s").
std::optional<double> unit_factor(std::string_view from, std::string_view to);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/units.hpp>
#endif
