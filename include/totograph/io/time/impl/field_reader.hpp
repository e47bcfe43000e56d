// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/field_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io::detail {

TOTOGRAPH_INLINE std::size_t FieldReader::numeral(std::size_t most, std::int64_t& value) {
    value = 0;
    std::size_t count = 0;
    for (; count < most && count < text_.size() && text_[count] >= '0' && text_[count] <= '9'; ++count) {
        value = value * 10 + (text_[count] - '0');
    }
    text_.remove_prefix(count);
    return count;
}

TOTOGRAPH_INLINE bool FieldReader::symbol(char wanted) {
    if (text_.empty() || text_.front() != wanted) {
        return false;
    }
    text_.remove_prefix(1);
    return true;
}

TOTOGRAPH_INLINE bool FieldReader::word(std::string_view wanted) {
    const bool is_there = text_.starts_with(wanted);
    text_.remove_prefix(is_there ? wanted.size() : 0);
    return is_there;
}

}  // namespace totograph::io::detail
