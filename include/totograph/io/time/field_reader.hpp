// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace totograph::io::detail {

/// Reads fields off the front of a text; each function says whether the field was there.
class FieldReader {
public:
    explicit FieldReader(std::string_view text) : text_(text) {}

    bool digits(std::size_t count, std::int64_t& value) {
        return text_.size() >= count && numeral(count, value) == count;
    }
    /// Reads at most so many digits; returns how many there were.
    std::size_t numeral(std::size_t most, std::int64_t& value);
    bool symbol(char wanted);
    bool word(std::string_view wanted);
    [[nodiscard]] bool done() const { return text_.empty(); }
    [[nodiscard]] std::string_view rest() const { return text_; }

private:
    std::string_view text_;
};

}  // namespace totograph::io::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/field_reader.hpp>
#endif
