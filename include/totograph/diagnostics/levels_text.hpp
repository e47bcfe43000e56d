// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Levels of quantiles as text, for files and messages.
namespace totograph::serve::detail {

/// The levels with a space between two, each with as few digits as tell it: `0.1 0.5 0.9`.
std::string levels_text(std::span<const double> levels);

/// What `levels_text` wrote; nothing where that is not what it is: levels between 0 and 1, each larger than the one
/// before it.
std::optional<std::vector<double>> parse_levels(std::string_view text);

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/impl/levels_text.hpp>
#endif
