// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/text.hpp>

#include "../common/format.hpp"

namespace examples {

/// A sentence about a table that the user should read.
struct CandleNote {
    std::string kind;  ///< The same for tables of which one sentence is enough; the sentence where it names no file.
    std::string text;
};

/// A note of the CSV reader, which may name the file by `file_name`.
inline CandleNote note_of_reader(const std::string& text, std::string_view file_name) {
    const std::string quoted = totograph::io::in_quotes(file_name, totograph::io::longest_quote);
    const std::size_t at = text.find(quoted);
    return {at == std::string::npos ? text : std::string(text).replace(at, quoted.size(), ""), text};
}

/// Each kind of note once, as it was told first, with how many other tables it is true of.
class CandleNotes {
public:
    void add(const CandleNote& note) {
        const auto known =
            std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& kind) { return kind.first.kind == note.kind; });
        if (known == kinds_.end()) {
            kinds_.emplace_back(note, 0);
        } else {
            ++known->second;
        }
    }

    [[nodiscard]] std::vector<std::string> sentences() const {
        std::vector<std::string> result;
        for (const auto& [note, others] : kinds_) {
            const bool names_others = others > 0 && note.kind != note.text;
            result.push_back(note.text + (names_others ? " So it is with " + plural(others, "more symbol") + "." : ""));
        }
        return result;
    }

private:
    std::vector<std::pair<CandleNote, std::int64_t>> kinds_;
};

}  // namespace examples
