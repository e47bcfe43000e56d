// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// The one place where the version is written: the build reads it from these three lines.
#define TOTOGRAPH_VERSION_MAJOR 0
#define TOTOGRAPH_VERSION_MINOR 1
#define TOTOGRAPH_VERSION_PATCH 0

#define TOTOGRAPH_DETAIL_TEXT_OF(value) #value
#define TOTOGRAPH_DETAIL_JOIN(major, minor, patch) \
    TOTOGRAPH_DETAIL_TEXT_OF(major) "." TOTOGRAPH_DETAIL_TEXT_OF(minor) "." TOTOGRAPH_DETAIL_TEXT_OF(patch)

namespace totograph {

/// The version of the library as text, like `1.2.3`.
inline constexpr std::string_view version =
    TOTOGRAPH_DETAIL_JOIN(TOTOGRAPH_VERSION_MAJOR, TOTOGRAPH_VERSION_MINOR, TOTOGRAPH_VERSION_PATCH);

}  // namespace totograph

#undef TOTOGRAPH_DETAIL_JOIN
#undef TOTOGRAPH_DETAIL_TEXT_OF
