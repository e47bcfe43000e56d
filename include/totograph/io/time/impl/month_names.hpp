// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/month_names.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io {
namespace detail {

struct MonthNameEntry {
    std::string_view name;
    MonthName meaning;
};

/// The distinct names, sorted, each with the set of rows that contain it.
struct MonthNameIndex {
    std::array<MonthNameEntry, 12 * month_spellings.size()> entries{};
    std::size_t count = 0;
    std::size_t longest = 0;
    bool is_unambiguous = true;
};

constexpr MonthNameIndex index_month_names() {
    MonthNameIndex index;
    auto& entries = index.entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        entries[i] = {month_spellings[i / 12].names[i % 12],
                      {static_cast<std::int64_t>(i % 12 + 1), MonthSpellingSet{1} << i / 12}};
    }
    std::sort(entries.begin(), entries.end(),
              [](const MonthNameEntry& a, const MonthNameEntry& b) { return a.name < b.name; });
    for (const MonthNameEntry& entry : entries) {
        if (index.count == 0 || entries[index.count - 1].name != entry.name) {
            index.longest = std::max(index.longest, entry.name.size());
            entries[index.count++] = entry;
            continue;
        }
        MonthName& meaning = entries[index.count - 1].meaning;
        index.is_unambiguous = index.is_unambiguous && meaning.month == entry.meaning.month;
        meaning.spellings |= entry.meaning.spellings;
    }
    return index;
}

inline constexpr MonthNameIndex month_name_index = index_month_names();

static_assert(month_spellings.size() <= 8 * sizeof(MonthSpellingSet), "A set has no bit for some spelling of months.");
static_assert(std::all_of(month_spellings.begin(), month_spellings.end(),
                          [](const MonthSpelling& one) {
                              return std::any_of(month_spellings.begin(), month_spellings.end(),
                                                 [&](const MonthSpelling& other) {
                                                     return other.is_whole && other.language == one.language;
                                                 });
                          }),
              "A language has short names of months alone; add its whole ones, which tell what a short one is.");
static_assert(month_name_index.is_unambiguous,
              "A name in month_spellings stands for two months; leave it out of all rows.");

TOTOGRAPH_INLINE std::int64_t month_of_name(std::string_view word) {
    return find_month_name(word.ends_with('.') ? word.substr(0, word.size() - 1) : word).month;
}

TOTOGRAPH_INLINE bool is_whole_name(const MonthSpelling& spelling, std::size_t month) {
    return std::any_of(month_spellings.begin(), month_spellings.end(), [&](const MonthSpelling& other) {
        return other.is_whole && other.language == spelling.language && other.names[month] == spelling.names[month];
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

TOTOGRAPH_INLINE std::string in_capitals(std::string_view name) {
    std::string text(name);
    for (char& letter : text) {
        letter = letter == accented ? letter : static_cast<char>(letter ^ 0x20);
    }
    return text;
}

}  // namespace detail

TOTOGRAPH_INLINE MonthName find_month_name(std::string_view word) {
    const detail::MonthNameIndex& index = detail::month_name_index;
    std::array<char, detail::month_name_index.longest> letters{};
    if (word.size() > letters.size()) {
        return {};
    }
    for (std::size_t i = 0; i < word.size(); ++i) {
        const bool is_capital = detail::is_capital(i > 0 ? word[i - 1] : '\0', word[i]);
        letters[i] = static_cast<char>(is_capital ? word[i] ^ 0x20 : word[i]);
    }
    const std::string_view small(letters.data(), word.size());
    const auto end = index.entries.begin() + static_cast<std::ptrdiff_t>(index.count);
    const auto entry =
        std::lower_bound(index.entries.begin(), end, small,
                         [](const detail::MonthNameEntry& one, std::string_view name) { return one.name < name; });
    return entry != end && entry->name == small ? entry->meaning : MonthName{};
}

TOTOGRAPH_INLINE MonthSpellingSet join_spellings(MonthSpellingSet later, MonthSpellingSet earlier) {
    if (const MonthSpellingSet both = later & earlier; both != 0 || earlier == 0 || later == 0) {
        return both != 0 ? both : later;
    }
    const MonthSpellingSet alike = later & detail::with_its_languages(earlier);
    return alike != 0 ? alike : earlier;
}

}  // namespace totograph::io
