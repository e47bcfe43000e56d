// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The letters that names of months are spelled in: Latin ones of Unicode up to U+017F, and Cyrillic ones.

namespace totograph::io::detail {

/// Length in bytes of the letter at the start of a text in UTF-8; 0 for anything else.
std::size_t letter_length(std::string_view text);

/// Whether a text begins with a capital letter.
bool begins_with_capital(std::string_view text);

/// A text with its letters small; what is no letter stays as it is.
std::string in_small_letters(std::string_view text);

/// A text with its letters large.
std::string in_capitals(std::string_view text);

}  // namespace totograph::io::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/letters.hpp>
#endif
