// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/month_names.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/letters.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE std::string_view MonthSpelling::name(std::size_t month) const {
    std::string_view rest = names;
    for (; month > 0; --month) {
        rest.remove_prefix(rest.find(' ') + 1);
    }
    return rest.substr(0, rest.find(' '));
}

namespace detail {

struct MonthNameEntry {
    std::string_view name;
    MonthName meaning;
};

/// The distinct names, sorted, each with the set of rows that contain it.
TOTOGRAPH_INLINE std::vector<MonthNameEntry> index_month_names() {
    std::vector<MonthNameEntry> all;
    for (std::size_t row = 0; row < month_spellings.size(); ++row) {
        for (std::size_t month = 0; month < 12; ++month) {
            all.push_back(
                {month_spellings[row].name(month), {static_cast<std::int64_t>(month + 1), MonthSpellingSet{1} << row}});
        }
    }
    std::sort(all.begin(), all.end(), [](const MonthNameEntry& a, const MonthNameEntry& b) { return a.name < b.name; });
    std::vector<MonthNameEntry> index;
    for (const MonthNameEntry& entry : all) {
        if (index.empty() || index.back().name != entry.name) {
            index.push_back(entry);
        } else {
            index.back().meaning.spellings |= entry.meaning.spellings;
        }
    }
    return index;
}

static_assert(month_spellings.size() <= 8 * sizeof(MonthSpellingSet), "A set has no bit for some spelling of months.");

TOTOGRAPH_INLINE std::int64_t month_of_name(std::string_view word) {
    return find_month_name(word.ends_with('.') ? word.substr(0, word.size() - 1) : word).month;
}

TOTOGRAPH_INLINE bool is_whole_name(const MonthSpelling& spelling, std::size_t month) {
    return std::any_of(month_spellings.begin(), month_spellings.end(), [&](const MonthSpelling& other) {
        return other.is_whole && other.language == spelling.language && other.name(month) == spelling.name(month);
    });
}

TOTOGRAPH_INLINE bool is_short_name(const MonthName& name) {
    for (std::size_t spelling = 0; spelling < month_spellings.size(); ++spelling) {
        const bool is_one_of_them = (name.spellings >> spelling & 1U) != 0;
        if (is_one_of_them && is_whole_name(month_spellings[spelling], static_cast<std::size_t>(name.month - 1))) {
            return false;
        }
    }
    return true;
}

TOTOGRAPH_INLINE MonthSpellingSet with_its_languages(MonthSpellingSet set) {
    MonthSpellingSet all = 0;
    for (std::size_t spelling = 0; spelling < month_spellings.size(); ++spelling) {
        all |= (set >> spelling & 1U) != 0 ? spellings_of(month_spellings[spelling].language) : MonthSpellingSet{0};
    }
    return all;
}

TOTOGRAPH_INLINE const MonthSpelling& first_spelling(MonthSpellingSet set) {
    return month_spellings[set == 0 ? 0 : static_cast<std::size_t>(std::countr_zero(set))];
}

}  // namespace detail

TOTOGRAPH_INLINE MonthName find_month_name(std::string_view word) {
    static const std::vector<detail::MonthNameEntry> index = detail::index_month_names();
    constexpr std::size_t longest = 24;  // bytes; a cell of text may be of any length
    // No name has a blank, a digit or a point.
    const auto is_below_letters = [](char byte) { return static_cast<unsigned char>(byte) < 'A'; };
    if (word.empty() || word.size() > longest || std::any_of(word.begin(), word.end(), is_below_letters)) {
        return {};
    }
    const std::string small = detail::in_small_letters(word);
    const auto entry =
        std::lower_bound(index.begin(), index.end(), small,
                         [](const detail::MonthNameEntry& one, std::string_view name) { return one.name < name; });
    return entry != index.end() && entry->name == small ? entry->meaning : MonthName{};
}

TOTOGRAPH_INLINE MonthSpellingSet join_spellings(MonthSpellingSet later, MonthSpellingSet earlier) {
    if (const MonthSpellingSet both = later & earlier; both != 0 || earlier == 0 || later == 0) {
        return both != 0 ? both : later;
    }
    const MonthSpellingSet alike = later & detail::with_its_languages(earlier);
    return alike != 0 ? alike : earlier;
}

}  // namespace totograph::io
