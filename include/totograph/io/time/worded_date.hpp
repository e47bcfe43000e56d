// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace totograph::io {

struct NamedDate;  // in named_date.hpp, whose reader takes these dates as well

/// Takes a date with words or points behind its year, month and day off the front of a text: "2024年1月5日" (Chinese,
/// Japanese), "2024년 1월 5일", "2024. 1. 5." (Korean, Hungarian), "2024年1月". Nothing, and the text as it was, where
/// there is none. One without a day must be the whole text.
std::optional<NamedDate> take_worded_date(std::string_view& text);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/worded_date.hpp>
#endif
