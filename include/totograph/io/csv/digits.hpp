// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/records.hpp>

namespace totograph::io {

/// A field whose number or time is in digits of another script, in those of ASCII: Arabic, Persian, Devanagari,
/// Bengali, Thai and full-width ones, and the marks of numbers and times that are written with them. Marks of
/// direction before it, which spreadsheets leave there, are gone. All other fields stay as they are, and so do
/// full-width digits before a word ("１号店"): these are labels rather than numbers with a unit.
std::string with_ascii_digits(std::string_view field);

/// Whether a field may be one that `with_ascii_digits` changes: by its first two bytes, for nearly all are not.
constexpr bool may_have_other_digits(std::string_view field) {
    const auto is_beyond_ascii = [&](std::size_t i) {
        return i < field.size() && (static_cast<unsigned char>(field[i]) & 0x80U) != 0;
    };
    return is_beyond_ascii(0) || is_beyond_ascii(1);
}

/// Each field of a record as `with_ascii_digits` has it.
inline void use_ascii_digits(std::vector<CsvField>& record) {
    for (CsvField& field : record) {
        if (may_have_other_digits(field.text)) {
            field.text = with_ascii_digits(field.text);
        }
    }
}

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/digits.hpp>
#endif
