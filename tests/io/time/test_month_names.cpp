// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/month_names.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/io/time/letters.hpp>
#include <totograph/io/time/timestamp.hpp>

using namespace totograph::io;

namespace {

/// The month of each name that `timestamps.csv`, which Python reads as well, has in a row such as
/// "5 mars 2024,2024-03-05T00:00:00".
std::map<std::string, std::size_t> months_of_file() {
    std::ifstream file(TOTOGRAPH_TEST_DATA "/timestamps.csv");
    std::map<std::string, std::size_t> months;
    for (std::string line; std::getline(file, line);) {
        const std::size_t end = line.find(" 2024,2024-");
        if (line.starts_with("5 ") && end != line.npos) {
            months[line.substr(2, end - 2)] = std::stoul(line.substr(end + 11, 2));
        }
    }
    return months;
}

}  // namespace

TEST_CASE("month names: each name of the table is read, and spelled alike") {
    const std::map<std::string, std::size_t> expected = months_of_file();
    std::set<std::string> names;
    for (const MonthSpelling& spelling : month_spellings) {
        for (std::size_t month = 0; month < 12; ++month) {
            const std::string small(spelling.name(month));
            CAPTURE(small);
            names.insert(small);
            REQUIRE(expected.contains(small));
            CHECK(expected.at(small) == month + 1);
            const std::string large = detail::in_capitals(small);
            CHECK(large != small);
            const std::size_t first = detail::letter_length(small);
            const std::string mixed = detail::in_capitals(small.substr(0, first)) + small.substr(first);
            for (const std::string& name : {small, large, mixed}) {
                CHECK(find_month_name(name).month == static_cast<int>(month) + 1);
                CHECK(detail::month_of_name(name + ".") == static_cast<int>(month) + 1);
                for (const std::string& text : {name + " 2024", "2024-" + name, "5. " + name + " 2024",
                                                "05" + name + "24", name + ". 2024", "5-" + name + "-2024 02:13"}) {
                    CAPTURE(text);
                    const auto stamp = parse_timestamp(text);
                    REQUIRE(stamp);
                    CHECK(static_cast<unsigned>(clock_time(stamp->instant, 0).date.month()) == month + 1);
                    CHECK(timestamp_text(stamp->instant, stamp->style) == text);
                }
            }
        }
    }
    CHECK(names.size() == expected.size());
}

TEST_CASE("month names: a row's names go on as they are through the year") {
    for (const MonthSpelling& spelling : month_spellings) {
        TimestampStyle style;
        for (std::size_t month = 0; month < 12; ++month) {
            auto stamp = parse_timestamp(std::string(spelling.name(month)) + " 2023");
            REQUIRE(stamp);
            join_style(stamp->style, style);
            style = stamp->style;
        }
        for (std::size_t month = 0; month < 12; ++month) {
            const std::string digits = (month < 9 ? "0" : "") + std::to_string(month + 1);
            const auto next = parse_timestamp("2024-" + digits);
            REQUIRE(next);
            CHECK(timestamp_text(next->instant, style) == std::string(spelling.name(month)) + " 2024");
        }
    }
}

TEST_CASE("month names: none stands for two months, and each language has whole ones") {
    std::map<std::string_view, std::size_t> month_of;
    std::set<std::string_view> whole;
    for (const MonthSpelling& spelling : month_spellings) {
        if (spelling.is_whole) {
            whole.insert(spelling.language);
        }
        for (std::size_t month = 0; month < 12; ++month) {
            CAPTURE(std::string(spelling.name(month)));
            CHECK(month_of.emplace(spelling.name(month), month).first->second == month);
            CHECK(detail::in_small_letters(spelling.name(month)) == spelling.name(month));
        }
    }
    for (const MonthSpelling& spelling : month_spellings) {
        CHECK(whole.contains(spelling.language));
    }
}

TEST_CASE("month names: letters of each script have capitals") {
    for (const auto& pair : {std::pair{"abcxyz", "ABCXYZ"},
                             {"éüñçøå", "ÉÜÑÇØÅ"},
                             {"ąęłńśźżčřůě", "ĄĘŁŃŚŹŻČŘŮĚ"},
                             {"ğş", "ĞŞ"},
                             {"абвяё", "АБВЯЁ"}}) {
        CHECK(detail::in_capitals(pair.first) == pair.second);
        CHECK(detail::in_small_letters(pair.second) == pair.first);
    }
    CHECK(detail::in_capitals("kasım") == "KASIM");
    CHECK(detail::in_small_letters("NİSAN") == "nisan");
    CHECK(detail::begins_with_capital("İ"));
    CHECK(detail::in_capitals("1×ß日\xFF") == "1×ß日\xFF");
    CHECK(detail::letter_length("×") == 0);
    CHECK(detail::letter_length("\xC3") == 0);
    CHECK(detail::letter_length("") == 0);
}

TEST_CASE("month names: other words are none") {
    for (const char* word : {"", "m", "ma", "mä", "jui", "foo", "marta", "märzo", "M\xC4RZ", "m\xC3", "f\xC3\xA9",
                             "m×rz", "septiembres", "mars..", "janv ", "lundi"}) {
        CAPTURE(word);
        CHECK(find_month_name(word).month == 0);
        CHECK(find_month_name(word).spellings == 0);
        CHECK(detail::month_of_name(word) == 0);
    }
}
