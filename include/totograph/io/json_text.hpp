// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <totograph/io/json_value.hpp>

namespace totograph::io {

/// Appends a string as JSON spells it, in quotes. Returns false, with the text unfinished, for what is not UTF-8.
bool append_json_string(std::string& to, std::string_view text);

/// Appends a number: the fewest digits that read back as the same number, and a fraction, be it 0. What is no number
/// is null.
void append_json_number(std::string& to, double value);

/// Appends a value, without blanks. Returns false, with the text unfinished, when a string or name is not UTF-8.
bool append_json(std::string& to, const JsonValue& value);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/json_text.hpp>
#endif
