// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace totograph::io {

struct NamedDate;  // in named_date.hpp, whose reader takes these dates as well

/// The Monday of a week of ISO 8601, of which the first one of a year has its first Thursday; nothing where the year
/// has no such week.
std::optional<std::chrono::sys_days> monday_of_week(std::int64_t year, std::int64_t week);

/// Takes the date of a week or of a day of one off the front of a text: "2024-W05", "2024-W05-1", and, of the years
/// 1900 to 2100, "2024W051". Nothing, and the text as it was, where there is none. A week without a day must be the
/// whole text.
std::optional<NamedDate> take_week_date(std::string_view& text);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/week_date.hpp>
#endif
