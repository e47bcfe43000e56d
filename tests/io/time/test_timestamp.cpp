// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/time_of_day.hpp>
#include <totograph/io/time/timestamp.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using totograph::io::DateOrder;
using totograph::io::join_style;
using totograph::io::parse_timestamp;
using totograph::io::timestamp_text;
using totograph::io::TimestampStyle;

TEST_CASE("timestamp: timestamps are read and spelled alike") {
    for (const char* text : {"2026-11-21",
                             "2026-11-21T02:13:41Z",
                             "2026-11-21 02:13",
                             "1969-12-31T23:59:59.250Z",
                             "2026-1-5",
                             "2026/11/21 2:13",
                             "2026-11",
                             "2026-11-21 02:13:41 UTC",
                             "2026-11-21 9:13:41 PM",
                             "2026-03-29T01:30:00+02:00",
                             "2024-02-29T00:00:00-0330",
                             "2026-11-21T02:13:41.123456789Z",
                             "2026-11-21T02:13:41.050Z",
                             "1700-01-01",
                             "2250-12-31",
                             "20261121T021341Z",
                             "20261121T0213",
                             "20261121T02",
                             "20261121T021341.250+0100",
                             "20261121 02:13",
                             "20261121 2:13",
                             "20261121T02:13:41Z",
                             "20261121 021341",
                             "20261121 02:13 AM"}) {
        CAPTURE(text);
        const auto stamp = parse_timestamp(text);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, stamp->style) == text);
    }
    CHECK(parse_timestamp("1970-01-01T00:00:01.5Z")->instant == 1'500'000'000);
    CHECK(parse_timestamp("1970-01-01T01:00+01:00")->instant == 0);
    CHECK(parse_timestamp("1970-01-01T00:00-03:30")->instant == 12'600'000'000'000);
    CHECK(parse_timestamp("20240229T2400")->instant == parse_timestamp("2024-03-01")->instant);
    CHECK(parse_timestamp("20240229 101112")->instant == parse_timestamp("2024-02-29T10:11:12Z")->instant);
    // A leap second is the next one.
    CHECK(parse_timestamp("2016-12-31T23:59:60Z")->instant == parse_timestamp("2017-01-01")->instant);
}

TEST_CASE("timestamp: years of two digits are those from 1969 to 2068") {
    const auto date_of = [](const char* text, DateOrder order) {
        return timestamp_text(parse_timestamp(text, order)->instant, {});
    };
    CHECK(date_of("5/1/68", DateOrder::day_first) == "2068-01-05");
    CHECK(date_of("5/1/69", DateOrder::day_first) == "1969-01-05");
    CHECK(date_of("5-Jan-68", DateOrder::year_first) == "2068-01-05");
    CHECK(date_of("5-Jan-69", DateOrder::year_first) == "1969-01-05");
}

TEST_CASE("timestamp: 24:00 is midnight at the end of the day") {
    const auto stamp = parse_timestamp("2024-02-29 24:00");
    REQUIRE(stamp);
    CHECK(stamp->instant == parse_timestamp("2024-03-01 00:00")->instant);
    CHECK(timestamp_text(stamp->instant, stamp->style) == "2024-03-01 00:00");
    CHECK(parse_timestamp("2024-02-29T24:00:00Z")->instant == stamp->instant);
}

TEST_CASE("timestamp: what is no timestamp is not taken for one") {
    for (const char* text : {"",
                             "today",
                             "2026",
                             "2026-13-01",
                             "2026-02-30",
                             "2026.11",
                             "20261121",
                             "20261121T",
                             "20261121T021",
                             "20261121T0213411",
                             "20261121 02",
                             "20261121 0213:41",
                             "20261321T0213",
                             "2026-11-21T0213",
                             "20261121X0213",
                             "1/2",
                             "2026-11-21X02:13",
                             "2026-11-21T24:01",
                             "2026-11-21T25:00",
                             "2026-11-21 24:00 AM",
                             "2026-11-21T02:13:41.",
                             "2026-11-21T02:13:41 CET",
                             "1500-01-01",
                             "2026-11-21T02:13:41.1234567890",
                             "2026-11-21T02:13+25:00",
                             "2026-11-21T02:13Zulu",
                             "2026-11-21T02:13:61",
                             "2026-11-21 0:13 AM",
                             "2026-11-21 13:00 PM",
                             "1699-12-31",
                             "2251-01-01"}) {
        CAPTURE(text);
        CHECK(!parse_timestamp(text));
    }
}

TEST_CASE("timestamp: months by their names, and quarters") {
    for (const char* text :
         {"05-Jan-2024", "5 Jan 2024", "5/January/2024", "05JAN2024", "05-jan-24", "Jan 5, 2024", "January 05 2024",
          "2024-Jan-05", "5. Jan 2024", "05-Jan-2024 00:00", "Jan 5, 2024 12:00:00 AM"}) {
        CAPTURE(text);
        const auto stamp = parse_timestamp(text);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, {}) == "2024-01-05");
        CHECK(timestamp_text(stamp->instant, stamp->style) == text);
    }
    for (const auto& named : {std::pair{"Jan 2024", "2024-01-01"},
                              {"2024 Feb", "2024-02-01"},
                              {"2024-Sep", "2024-09-01"},
                              {"DECEMBER 2024", "2024-12-01"},
                              {"2024-Q1", "2024-01-01"},
                              {"2024Q4", "2024-10-01"},
                              {"Q2 2024", "2024-04-01"}}) {
        const char* const text = named.first;
        const char* const first_day = named.second;
        CAPTURE(text);
        const auto stamp = parse_timestamp(text);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, {}) == first_day);
        CHECK(timestamp_text(stamp->instant, stamp->style) == text);
    }
    // The day of the week moves along, in letters as they were.
    for (const auto& named : {std::pair{"Mon, 01 Jan 2024 10:00:00 +0000", "Thu, 01 Feb 2024 10:00:00 +0000"},
                              {"Monday, January 1, 2024", "Thursday, February 1, 2024"},
                              {"MON 1 jan 2024 10:00", "THU 1 feb 2024 10:00"},
                              {"Mon, 01 Jan 2024 10:00:00 GMT", "Thu, 01 Feb 2024 10:00:00 GMT"}}) {
        CAPTURE(named.first);
        const auto stamp = parse_timestamp(named.first);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, stamp->style) == named.first);
        constexpr std::int64_t days = 31 * totograph::io::seconds_per_day * totograph::io::nanoseconds_per_second;
        CHECK(timestamp_text(stamp->instant + days, stamp->style) == named.second);
    }
    CHECK(parse_timestamp("5-Jan-2024 02:13+01:00")->instant == parse_timestamp("2024-01-05T01:13Z")->instant);
    CHECK(timestamp_text(parse_timestamp("Sept 2024")->instant, {}) == "2024-09-01");
}

TEST_CASE("timestamp: months in several languages, in any letters, are read and spelled alike") {
    for (const auto& named : {std::pair{"3. März 2024", "2024-03-03"},
                              {"12-Mär-24", "2024-03-12"},
                              {"12-MRZ-24", "2024-03-12"},
                              {"Mai 2024", "2024-05-01"},
                              {"Dez 2023", "2023-12-01"},
                              {"2024 Jänner", "2024-01-01"},
                              {"3 mars 2024", "2024-03-03"},
                              {"févr. 2024", "2024-02-01"},
                              {"FÉVR. 2024", "2024-02-01"},
                              {"2024 févr.", "2024-02-01"},
                              {"12-févr.-24", "2024-02-12"},
                              {"5.févr.2024", "2024-02-05"},
                              {"août 2024", "2024-08-01"},
                              {"15 AOÛT 2024", "2024-08-15"},
                              {"1er janvier 2024", "2024-01-01"},
                              {"15-ene-2024", "2024-01-15"},
                              {"3 de marzo de 2024", "2024-03-03"},
                              {"3 DE MARZO DE 2024", "2024-03-03"},
                              {"marzo de 2024", "2024-03-01"},
                              {"Março/2024", "2024-03-01"},
                              {"gen 2024", "2024-01-01"},
                              {"15 mrt 2024", "2024-03-15"},
                              {"15MRT2024", "2024-03-15"},
                              {"15 mei 2024 00:00", "2024-05-15"}}) {
        CAPTURE(named.first);
        const auto stamp = parse_timestamp(named.first);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, {}) == named.second);
        CHECK(timestamp_text(stamp->instant, stamp->style) == named.first);
    }
}

TEST_CASE("timestamp: points behind names of months, whole ones as well") {
    for (const char* mark : {"-", "/"}) {
        for (const auto& named : {std::pair{"mai.", "2024-05-15"},
                                  {"may.", "2024-05-15"},
                                  {"juni.", "2024-06-15"},
                                  {"mars.", "2024-03-15"},
                                  {"Sett.", "2024-09-15"},
                                  {"JUILL.", "2024-07-15"},
                                  {"avril.", "2024-04-15"}}) {
            const std::string month(named.first);
            const std::string day = std::string("15") + mark + month + mark + "2024";
            for (const std::string& text : {day, month + mark + "2024", "2024" + (mark + month), "2024 " + month}) {
                CAPTURE(text);
                const auto stamp = parse_timestamp(text);
                REQUIRE(stamp);
                CHECK(timestamp_text(stamp->instant, {}).substr(0, 7) == std::string(named.second).substr(0, 7));
                CHECK(timestamp_text(stamp->instant, stamp->style) == text);
            }
        }
    }
}

TEST_CASE("timestamp: what stands around a month tells its language where the name does not") {
    for (const auto& column : {std::array{"1er mai 2024", "31 mai 2024", "2024-06-01", "1er juin 2024"},
                               {"30 de jan. de 2024", "31 de jan. de 2024", "2024-02-01", "01 de fev. de 2024"},
                               {"30 de mar de 2024", "31 de mar de 2024", "2024-04-01", "01 de abr de 2024"},
                               {"mai 2023", "mai 2024", "2024-06-01", "juin 2024"},
                               {"Mai 2023", "Mai 2024", "2024-06-01", "Juni 2024"},
                               {"november 2023", "november 2024", "2024-12-01", "december 2024"},
                               {"november 2023", "november 2024", "2025-03-01", "maart 2025"},
                               {"29. April 2024", "30. April 2024", "2024-05-01", "01. Mai 2024"},
                               {"29. april 2024", "30. april 2024", "2024-05-01", "01. mai 2024"},
                               {"29. Nov. 2024", "30. Nov. 2024", "2024-12-01", "01. Dez. 2024"},
                               {"29.Nov 2024", "30.Nov 2024", "2024-12-01", "01.Dez 2024"},
                               {"30. August 2024", "31. August 2024", "2024-09-01", "01. September 2024"},
                               {"30. August 2024", "31. August 2024", "2024-10-01", "01. Oktober 2024"},
                               {"30.mai.2024", "31.mai.2024", "2024-06-01", "01.juin.2024"},
                               {"30 sept. 2024", "29 sept. 2024", "2025-02-01", "01 févr. 2025"},
                               {"30 jan. 2024", "31 jan. 2024", "2024-02-01", "01 fev. 2024"},
                               {"30 dec. 2024", "31 dec. 2024", "2025-03-01", "01 mrt. 2025"},
                               // English stays so.
                               {"1 May 2024", "2 May 2024", "2024-06-01", "1 Jun 2024"},
                               {"May 2023", "May 2024", "2024-08-01", "Aug 2024"},
                               {"may 2023", "may 2024", "2024-08-01", "aug 2024"},
                               {"30apr2024", "29apr2024", "2024-05-01", "01may2024"},
                               {"30 April 2024", "29 April 2024", "2024-05-01", "01 May 2024"},
                               {"Apr.29.2024", "Apr.30.2024", "2024-05-01", "May.01.2024"},
                               {"29.Apr.24", "30.Apr.24", "2024-05-01", "01.May.24"},
                               {"29.apr.2024", "30.apr.2024", "2024-05-01", "01.may.2024"},
                               {"1. Jan 2024", "2. Mar 2024", "2024-05-01", "1. May 2024"},
                               {"1. May 2024", "2. May 2024", "2024-10-01", "1. Oct 2024"}}) {
        CAPTURE(column[1]);
        const auto first = parse_timestamp(column[0]);
        auto last = parse_timestamp(column[1]);
        REQUIRE(first);
        REQUIRE(last);
        join_style(last->style, first->style);
        CHECK(timestamp_text(parse_timestamp(column[2])->instant, last->style) == column[3]);
    }
}

TEST_CASE("timestamp: a year that touches a month alone is one behind an English name") {
    for (const char* text : {"SET2000", "MAG2000", "GEN2000", "OUT2100", "mai2024", "März2024"}) {
        CAPTURE(text);
        CHECK(!parse_timestamp(text));
    }
    for (const char* text : {"MAR2000", "May2024", "jan2024", "SET-2000", "Mag 2000", "5SET2000", "2000-SET"}) {
        CAPTURE(text);
        const auto stamp = parse_timestamp(text);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, stamp->style) == text);
    }
}

TEST_CASE("timestamp: weeks, and words behind the parts of a date and of a time") {
    struct Case {
        const char* text;
        const char* plain;
        const char* week_later;
    };
    for (const Case& named : {Case{"2024-W05", "2024-01-29T00:00", "2024-W06"},
                              {"2020W53", "2020-12-28T00:00", "2021W01"},
                              {"2024-W01-7", "2024-01-07T00:00", "2024-W02-7"},
                              {"2025W011", "2024-12-30T00:00", "2025W021"},
                              {"2024年1月5日", "2024-01-05T00:00", "2024年1月12日"},
                              {"2024年01月05日 14:30", "2024-01-05T14:30", "2024年01月12日 14:30"},
                              {"2024 年 1 月 5 日", "2024-01-05T00:00", "2024 年 1 月 12 日"},
                              {"2024年1月5日14时30分", "2024-01-05T14:30", "2024年1月12日14时30分"},
                              {"2024年1月5日 14時30分05秒", "2024-01-05T14:30", "2024年1月12日 14時30分05秒"},
                              {"2024年1月5日14時", "2024-01-05T14:00", "2024年1月12日14時"},
                              {"2024년 1월 5일 오후 2:30", "2024-01-05T14:30", "2024년 1월 12일 오후 2:30"},
                              {"2024-01-05 14시 30분", "2024-01-05T14:30", "2024-01-12 14시 30분"},
                              {"2024. 1. 5.", "2024-01-05T00:00", "2024. 1. 12."},
                              {"2024-01-05 14.30", "2024-01-05T14:30", "2024-01-12 14.30"},
                              {"2024-01-05 9.05.30", "2024-01-05T09:05", "2024-01-12 9.05.30"},
                              {"2024. 01. 05. 14:30", "2024-01-05T14:30", "2024. 01. 12. 14:30"},
                              {"2024/1/5 上午 12:05", "2024-01-05T00:05", "2024/1/12 上午 12:05"},
                              {"2024-01-05 2:30\u202fPM", "2024-01-05T14:30", "2024-01-12 2:30\u202fPM"},
                              {"2024-01-05 02:30 p.\u00a0m.", "2024-01-05T14:30", "2024-01-12 02:30 p.\u00a0m."},
                              {"2024년1월5일14시30분", "2024-01-05T14:30", "2024년1월12일14시30분"},
                              {"2024-01-05 9.05 PM", "2024-01-05T21:05", "2024-01-12 9.05 PM"},
                              {"2024/1/5 午前0:05", "2024-01-05T00:05", "2024/1/12 午前0:05"},
                              {"2024/1/5 午後0時05分", "2024-01-05T12:05", "2024/1/12 午後0時05分"},
                              {"2024/1/5 午後12:05", "2024-01-05T12:05", "2024/1/12 午後12:05"},
                              {"2024/1/5 下午 0:05", "2024-01-05T12:05", "2024/1/12 下午 0:05"},
                              {"2024-01-05 2:30 a. m.", "2024-01-05T02:30", "2024-01-12 2:30 a. m."}}) {
        CAPTURE(named.text);
        const auto stamp = parse_timestamp(named.text);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, {.has_time = true}) == named.plain);
        CHECK(timestamp_text(stamp->instant, stamp->style) == named.text);
        constexpr std::int64_t week = 7 * totograph::io::seconds_per_day * totograph::io::nanoseconds_per_second;
        CHECK(timestamp_text(stamp->instant + week, stamp->style) == named.week_later);
    }
    CHECK(timestamp_text(parse_timestamp("2024年1月")->instant, {}) == "2024-01-01");
    CHECK_FALSE(parse_timestamp("2024년 1월")->style.has_day);
    for (const char* text : {"2021-W53",
                             "2024-W00",
                             "2024-W05-8",
                             "2024-W05-0",
                             "2024-W5",
                             "2024-W05 10:00",
                             "2024W",
                             "2024年",
                             "2024年13月",
                             "2024年1月5",
                             "2024年1月5月",
                             "2024年1月10:00",
                             "2024. 5",
                             "2024. 1.",
                             "2024-01-05 14.3",
                             "2024-01-05 14.30:05",
                             "2024-01-05 14:30.05",
                             "2024-01-05 14.300",
                             "2024-01-05 14時30",
                             "2024-01-0514時",
                             "2024-01-05T10.25",
                             "2024年1月5日10.25",
                             "20240105T10.25",
                             "20240105 10.25",
                             "1800W10",
                             "2101W101",
                             "2024-01-05 13:00 p.m.",
                             "2024-01-05 0:30 AM",
                             "2024-01-05 오후",
                             "2024-01-05 2:30 오후"}) {
        CAPTURE(text);
        CHECK(!parse_timestamp(text));
    }
}

TEST_CASE("timestamp: noon and midnight on a clock of 12 hours go on as a column has them") {
    const auto hour_later = [](const std::vector<const char*>& column) {
        TimestampStyle style;
        std::int64_t last = 0;
        for (const char* text : column) {
            auto stamp = parse_timestamp(text);
            REQUIRE(stamp);
            join_style(stamp->style, style);
            style = stamp->style;
            last = stamp->instant;
        }
        return timestamp_text(last + 3600 * totograph::io::nanoseconds_per_second, style);
    };
    CHECK(hour_later({"2024-01-05 午前9:00", "2024-01-05 午前11:00"}) == "2024-01-05 午後0:00");
    CHECK(hour_later({"2024-01-05 午前12:00", "2024-01-05 午前11:00"}) == "2024-01-05 午後12:00");
    CHECK(hour_later({"2024-01-05 上午11:00"}) == "2024-01-05 下午12:00");
    CHECK(hour_later({"2024-01-05 上午0:00", "2024-01-05 上午11:00"}) == "2024-01-05 下午0:00");
    CHECK(hour_later({"2024-01-05 11:00 PM"}) == "2024-01-06 12:00 AM");
}

TEST_CASE("timestamp: whether a time of day stands behind a date") {
    for (const char* text : {"2024-01-05 10:00", "20240105T10", "20240105 1000", "5.1.2024 14.30", "5.1.2024 9.30.05",
                             "2024年1月5日14時", "5.1.2024 2.30 PM", "5.1.2024 14.30 UTC"}) {
        CHECK(totograph::io::has_time_of_day(text));
    }
    for (const char* text : {"2024-01-05", "5.1.2024", "2024. 1. 5.", "5. März 2024", "2024年1月5日", "12 Jan.24"}) {
        CHECK_FALSE(totograph::io::has_time_of_day(text));
    }
}

TEST_CASE("timestamp: words and numbers that are no dates") {
    // "Jan-24" could be a day or a year.
    for (const char* text : {"Jan",
                             "Jan-24",
                             "24-Jan",
                             "2024-Q5",
                             "2024-Q12",
                             "Q1",
                             "Jane 2024",
                             "5 5 Jan 2024",
                             "30-Feb-2024",
                             "2024 Jan 10:00",
                             "Jan 2024 Feb",
                             "5-Jan-2024-",
                             "12.3 Jan",
                             "May",
                             "Mon",
                             "Mon, 5",
                             "Mon5 Jan 2024",
                             "Mon, Mon, 5 Jan 2024",
                             "",
                             "Jan.-24",
                             "24-févr.",
                             "foo 2024",
                             "jui 2024",
                             "Mä 2024",
                             "M\xC4rz 2024",
                             "août\xC3 2024",
                             "1er",
                             "1er 2024",
                             "11er mars 2024"}) {
        CAPTURE(text);
        CHECK(!parse_timestamp(text));
    }
}

TEST_CASE("timestamp: a spelling keeps what the last timestamp of a column cannot show") {
    const auto spelled = [](const char* earlier, const char* later, const char* other, DateOrder order) {
        const auto first = parse_timestamp(earlier, order);
        auto last = parse_timestamp(later, order);
        join_style(last->style, first->style);
        return timestamp_text(parse_timestamp(other)->instant, last->style);
    };
    for (const auto& column : {std::array{"11/9/2026", "11/21/2026", "1/2/2027"},
                               {"11/09/2026", "11/21/2026", "01/02/2027"},
                               {"1/2/2026 9:30", "1/2/2026 14:30", "1/2/2027 0:00"},
                               {"May 9, 2026", "May 21, 2026", "Jan 2, 2027"},
                               {"9 April 2026", "21 May 2026", "2 January 2027"},
                               {"9 May 2026", "21 June 2026", "2 January 2027"},
                               {"9 May 2026", "21-Jun-2026", "02-Jan-2027"},
                               {"9 June 2026", "21 Sept 2026", "2 Jan 2027"},
                               {"9. März 2026", "21. April 2026", "2. Januar 2027"},
                               {"9 mars 2026", "21 mai 2026", "2 janvier 2027"},
                               {"9 févr. 2026", "21 mai 2026", "2 janv. 2027"},
                               {"9 mai 2026", "21 déc. 2026", "2 janv. 2027"},
                               {"9-ENE-2026", "21-MAY-2026", "2-ENE-2027"},
                               {"9 de mayo de 2026", "21 de abril de 2026", "2 de enero de 2027"},
                               {"9 mag 2026", "21 apr 2026", "2 gen 2027"},
                               {"9 Fev 2026", "21 Mai 2026", "2 Jan 2027"},
                               {"9 mei 2026", "21 april 2026", "2 januari 2027"}}) {
        CAPTURE(column[1]);
        CHECK(spelled(column[0], column[1], "2027-01-02", DateOrder::month_first) == column[2]);
    }
    const auto year_first = [&](const char* earlier, const char* later, const char* other) {
        return spelled(earlier, later, other, DateOrder::year_first);
    };
    // Python's isoformat leaves out decimals that are zero, Java seconds, R midnight.
    CHECK(year_first("2026-11-21T00:00:00.250Z", "2026-11-21T00:00:01Z", "2026-11-21T00:00:01.5Z") ==
          "2026-11-21T00:00:01.500Z");
    CHECK(year_first("2026-11-21T00:00:30", "2026-11-21T00:01", "2026-11-21T00:01:30") == "2026-11-21T00:01:30");
    CHECK(year_first("2026-11-21 23:00:00", "2026-11-22", "2026-11-22 01:00") == "2026-11-22 01:00:00");
    CHECK(year_first("2026-11-21 23:00:00", "2026-12", "2027-01-01") == "2027-01");  // of another kind
    // The language is that in which all names of the column are names.
    CHECK(year_first("Feb 2026", "Mai 2026", "2026-12-01") == "Dez 2026");
    CHECK(year_first("mrt 2026", "april 2026", "2026-05-01") == "mei 2026");
    CHECK(year_first("févr. 2026", "avr. 2026", "2026-03-01") == "mars 2026");
    CHECK(year_first("1er janvier 2026", "2 janvier 2026", "2026-02-01") == "1er février 2026");
    CHECK(year_first("février 2026", "January 2027", "2027-02-01") == "Février 2027");  // in no one language
    CHECK(year_first("Mrz 2026", "May 2026", "2026-12-01") == "Dez 2026");
    CHECK(year_first("15-mai.-2026", "16-mai.-2026", "2026-06-01") == "01-juin.-2026");
    CHECK(year_first("15-janv.-2026", "15-mai.-2026", "2026-06-15") == "15-juin.-2026");
    // A zone that changes is the later one's.
    CHECK(year_first("2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T02:00Z") ==
          "2026-10-25T03:00+01:00");
}

TEST_CASE("timestamp: spellings that Python reads as well are read alike") {
    std::ifstream file(TOTOGRAPH_TEST_DATA "/timestamps.csv");
    std::string line;
    REQUIRE(std::getline(file, line));
    int times = 0;
    int others = 0;
    while (std::getline(file, line)) {
        CAPTURE(line);
        const bool is_quoted = line.front() == '"';
        const auto end = is_quoted ? line.find('"', 1) : line.find(',');
        const std::string spelling = line.substr(is_quoted ? 1 : 0, end - (is_quoted ? 1 : 0));
        const std::string expected = line.substr(end + (is_quoted ? 2 : 1));
        const auto found = parse_timestamp(spelling);
        if (expected == "none") {
            CHECK_FALSE(found);
            ++others;
        } else {
            REQUIRE(found);
            CHECK(found->instant == parse_timestamp(expected).value().instant);
            ++times;
        }
    }
    CHECK(times > 40);
    CHECK(others > 40);
}
