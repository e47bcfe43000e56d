// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <totograph/io/csv/layout.hpp>

namespace examples {

/// The first lines of a stream, held back because together they tell how to read all of them. No forecast waits for
/// that, for it needs more lines. Their memory is bounded.
class HeldLines {
public:
    /// So many tell as a rule.
    static constexpr std::size_t usual = 10;
    /// More are not held back. The layout of a file is found by as many.
    static constexpr std::size_t most = 20;
    static constexpr std::size_t most_bytes = std::size_t{1} << 20U;

    /// Of a line that is too long nothing is kept but that.
    void add(const std::string& line, bool is_too_long) {
        lines_.push_back(is_too_long ? std::string() : line);
        are_too_long_.push_back(is_too_long);
        bytes_ += lines_.back().size() + 1;
        // Comments above a table may be many.
        const bool is_above =
            totograph::io::detail::is_blank_line(lines_.back()) || totograph::io::detail::is_comment(lines_.back());
        count_ += have_begun() || !is_above ? 1 : 0;
    }

    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
    [[nodiscard]] bool is_too_long(std::size_t place) const { return are_too_long_[place]; }
    /// Whether any line is there that is neither a comment nor blank.
    [[nodiscard]] bool have_begun() const { return count_ > 0; }
    [[nodiscard]] bool are_usual() const { return count_ >= usual; }
    [[nodiscard]] bool are_full() const { return count_ >= most || bytes_ >= most_bytes; }

private:
    std::vector<std::string> lines_;
    std::vector<bool> are_too_long_;
    std::size_t count_ = 0;  // of those from the first that is neither a comment nor blank
    std::size_t bytes_ = 0;
};

}  // namespace examples
