// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/io/csv/csv.hpp>
#include <totograph/models/kronos/candles.hpp>

#include "candles/command_line.hpp"
#include "candles/output.hpp"
#include "candles/symbols.hpp"
#include "intake/options.hpp"
#include "io/support.hpp"
#include "support/refusal.hpp"

// What `candles` makes of a file: columns by their names, rows in the order of time, notes.

namespace {

using namespace examples;
using totograph::kronos::Column;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

CandleTable table_of(const std::string& text, const IntakeOptions& intake = {}, const SeenCandles& seen = {}) {
    return examples::detail::table_of_text(text, "f.csv", intake, seen);
}

std::string refusal_of(const std::string& text, const IntakeOptions& intake = {}) {
    return refusal([&] { table_of(text, intake); });
}

/// The column that has a role among these, or what the user is told.
std::string column_of(const std::vector<std::string>& names, Column role) {
    std::string found;
    const std::string refused = refusal([&] {
        const std::optional<RoleColumn> column = find_role(names, role, "'f.csv'");
        found = column ? names[column->position] : "none";
    });
    return refused.empty() ? found : refused;
}

/// Five days around a weekend, oldest first.
const std::vector<std::string> days = {"2024-03-07,1,3,0.5,2,10", "2024-03-08,2,4,1,3,20", "2024-03-11,3,5,2,4,30",
                                       "2024-03-12,4,6,3,5,40", "2024-03-13,5,7,4,6,50"};

/// These rows of `days`.
std::string file_of(const std::vector<std::size_t>& rows) {
    std::string text = "Date,Open,High,Low,Close,Volume\n";
    for (const std::size_t row : rows) {
        text += days[row] + "\n";
    }
    return text;
}

std::vector<std::string> texts_of(const CandleTable& table) {
    std::vector<std::string> texts;
    for (const CandleNote& note : table.notes) {
        texts.push_back(note.text);
    }
    return texts;
}

}  // namespace

TEST_CASE("columns of candles by the names that providers give them") {
    CHECK(column_of({"Open", "High"}, Column::open) == "Open");
    CHECK(column_of({"t", "o", "h", "l", "c", "v"}, Column::close) == "c");
    CHECK(column_of({"open_price", "close_price"}, Column::open) == "open_price");
    CHECK(column_of({"1. open", "2. high", "5. volume"}, Column::volume) == "5. volume");
    CHECK(column_of({"<OPEN>", "<CLOSE>", "<OPENINT>"}, Column::open) == "<OPEN>");
    CHECK(column_of({"Close/Last", "Volume"}, Column::close) == "Close/Last");
    CHECK(column_of({"Price", "Open"}, Column::close) == "Price");
    CHECK(column_of({"Price", "Close"}, Column::close) == "Close");
    CHECK(column_of({"Adj Close", "Close"}, Column::close) == "Close");
    CHECK(column_of({"Adj Close", "Price"}, Column::close) == "Price");
    CHECK(column_of({"Vol.", "<TICKVOL>"}, Column::volume) == "Vol.");
    CHECK(column_of({"<TICKVOL>"}, Column::volume) == "<TICKVOL>");
    CHECK(column_of({"vol", "Volume"}, Column::volume) == "Volume");
    CHECK(column_of({"open_time", "openint"}, Column::open) == "none");
    CHECK(column_of({"AMOUNT"}, Column::amount) == "AMOUNT");
}

TEST_CASE("two columns that fit one role equally are named, and names that are accepted where none fits") {
    CHECK(column_of({"open", "OPEN"}, Column::open) ==
          "The file 'f.csv' has two columns that may be open, 'open' and 'OPEN'; leave one out, or give it another "
          "name.");
    CHECK(has(column_of({"c", "close_price"}, Column::close), "'c' and 'close_price'"));
    const std::string sentence = refusal_of("time,open,high,low,last\n2024-01-01,1,2,0.5,1\n2024-01-02,1,2,0.5,1\n");
    CHECK(has(sentence, "no column of numbers 'close'"));
    CHECK(has(sentence, "close, close_price, Close/Last, c, price, adj_close, adjusted_close"));
    CHECK(has(sentence, "<CLOSE> or 1. close"));
    CHECK(has(sentence, "Its columns of numbers are: 'open', 'high', 'low', 'last'."));
    // A name may hold whatever stands between quotes.
    CHECK(has(refusal_of("time,\"a\nb\"\n2024-01-01,1\n2024-01-02,2\n"), "numbers are: 'a\\x0ab'."));
}

TEST_CASE("rows are put in the order of time, and repeats left out, which is told") {
    const CandleTable sorted = table_of(file_of({0, 1, 2, 3, 4}));
    CHECK(sorted.notes.empty());  // a weekend is no gap

    const CandleTable turned = table_of(file_of({4, 3, 2, 1, 0}));
    CHECK(turned.times == sorted.times);
    CHECK(turned.stamps == sorted.stamps);
    CHECK(turned.columns == sorted.columns);
    CHECK(texts_of(turned) ==
          std::vector<std::string>{"The file 'f.csv' has its newest row first: the rows are turned round."});

    const CandleTable shuffled = table_of(file_of({2, 0, 3, 1, 0, 4, 0}));
    CHECK(shuffled.times == sorted.times);
    CHECK(shuffled.columns == sorted.columns);
    CHECK(texts_of(shuffled) ==
          std::vector<std::string>{"The file 'f.csv' has rows that are not in the order of time ('2024-03-07' comes "
                                   "after '2024-03-11'): they are sorted.",
                                   "The file 'f.csv' has 2 rows with the time of another one, such as '2024-03-07': "
                                   "the first row of each time is kept."});
}

TEST_CASE("with --strict disorder and repeats are errors, and weekends are none") {
    IntakeOptions intake;
    intake.strict = true;
    CHECK(table_of(file_of({0, 1, 2, 3, 4}), intake).rows() == 5);
    CHECK(refusal_of(file_of({4, 3, 2, 1, 0}), intake) ==
          "The file 'f.csv' has its newest row first. Without --strict the rows are turned round.");
    CHECK(has(refusal_of(file_of({0, 2, 1}), intake),
              "('2024-03-08' comes after '2024-03-11'). Without --strict they "
              "are sorted."));
    CHECK(refusal_of(file_of({0, 1, 1}), intake) ==
          "The file 'f.csv' has 1 row with the time of another one, such as '2024-03-08'. Without --strict the first "
          "row of each time is kept.");
}

TEST_CASE("rows of one time with other numbers are refused, and disorder with --as-is") {
    const std::string other = file_of({0, 1, 2}) + "2024-03-08,2,4,1,3,21\n";
    CHECK(has(refusal_of(other), "has 1 row with the time of another one and other values, such as '2024-03-08'"));
    CHECK(has(refusal_of(other), "name it with --symbol-column."));
    IntakeOptions intake;
    intake.as_is = true;
    CHECK(has(refusal_of(file_of({0, 2, 1}), intake), "'2024-03-08' does not come after '2024-03-11'; leave --as-is"));
    CHECK(
        has(refusal_of("time,open,high,low,close\n2024-01-01 10:00:00.2,1,2,0.5,1\n2024-01-01 10:00:00.4,1,2,0.5,1\n"),
            "two candles in one second"));
}

TEST_CASE("a market that opens at one hour does so on either side of a change of clocks") {
    const std::string head = "time,open,high,low,close\n";
    const auto row = [](const std::string& time) { return time + ",1,2,0.5,1\n"; };
    const std::string winter = row("2024-03-08 09:30-05:00"), summer = row("2024-03-11 09:30-04:00");
    for (const std::string& rows : {winter + summer, summer + winter}) {
        const CandleTable table = table_of(head + rows);
        CHECK(table.times == std::vector<std::int64_t>{1709890200, 1710149400});  // 09:30 of both days
        CHECK(table.stamp(1710235800) == "2024-03-12 09:30-04:00");
        const Symbol symbol{"A", table, false};
        const CandleResult hidden{.symbol = &symbol, .history = 0, .future = table.times};
        CHECK(hidden.stamps() == table.stamps);
    }
    // The hour that comes twice has each of its candles once.
    const CandleTable twice = table_of(head + row("2024-11-03 01:30-04:00") + row("2024-11-03 01:00-05:00"));
    CHECK(twice.times == std::vector<std::int64_t>{1730593800, 1730595600});  // 00:30 and 01:00 in winter time
    CHECK(twice.stamp(1730595600) == "2024-11-03 01:00-05:00");
}

TEST_CASE("candles whose high is below their low are told, and taken as they are") {
    const CandleTable table =
        table_of("Date,Open,Low,High,Close\n2024-03-07,1,0.5,3,2\n2024-03-08,2,4,1,3\n2024-03-11,3,5,2,4\n");
    CHECK(texts_of(table) ==
          std::vector<std::string>{"The file 'f.csv' has 2 candles whose high is below the low, the first at "
                                   "'2024-03-08'; the values are taken as they are."});
    CHECK(table.columns[1][1] == 1);
    CHECK(table.columns[2][1] == 4);
}

TEST_CASE("prices that vary by less than Kronos can see are told") {
    const std::string head = "Date,Open,High,Low,Close\n";
    const std::string note =
        "The prices that a forecast sees of the file 'f.csv' have a standard deviation below 0.0001";
    const std::string low = "2024-03-07,1.1e-5,1.3e-5,1e-5,1.2e-5\n2024-03-08,1.2e-5,1.4e-5,1.1e-5,1.3e-5\n";
    const std::vector<std::string> told = texts_of(table_of(head + low));
    REQUIRE(told.size() == 1);
    CHECK(has(told[0], note));
    // Of a longer file those count that a forecast sees: the newest, or those before what is hidden.
    const auto is_told = [&](const std::string& rows, const SeenCandles& seen) {
        const std::vector<std::string> texts = texts_of(table_of(head + rows, {}, seen));
        return texts.size() == 1 && has(texts[0], note);
    };
    const std::string large = "2024-03-06,1,3,1,2\n";
    CHECK_FALSE(is_told(large + low, {}));
    CHECK(is_told(large + low, {.context = 2}));
    const std::string later = "2024-03-11,1,3,1,2\n2024-03-12,2,4,1,3\n";
    CHECK_FALSE(is_told(low + later, {.context = 2}));
    CHECK_FALSE(is_told(low + later, {.context = 2, .windows = 1, .horizon = 1}));
    CHECK(is_told(low + later, {.context = 2, .windows = 1, .horizon = 2}));
    CHECK(is_told(low + later, {.context = 2, .windows = 2, .horizon = 1}));
    CHECK_FALSE(is_told(large + later, {.context = 2, .windows = 1'000'000'000'000, .horizon = 1}));  // a few are there
    // Larger ones, and those that do not vary at all, are as they should be.
    CHECK(texts_of(table_of(head + "2024-03-07,1,3,1,2\n2024-03-08,2,4,1,3\n")).empty());
    CHECK(texts_of(table_of(head + "2024-03-07,1e-5,1e-5,1e-5,1e-5\n2024-03-08,1e-5,1e-5,1e-5,1e-5\n")).empty());
}

TEST_CASE("units are told, which nothing that is written has") {
    CHECK(texts_of(table_of("Date,Open,High,Low,Close/Last,Vol.\n2024-03-07,$1,$3,$0.5,2\xe2\x82\xac,10K\n"
                            "2024-03-08,$2,$4,$1,3\xe2\x82\xac,20K\n")) ==
          std::vector<std::string>{"The numbers of open, high and low are in '$', those of close are in "
                                   "'\xe2\x82\xac', those of volume are in 'K'; charts, scores and CSV leave units "
                                   "out."});
    CHECK(examples::detail::list_words({"close"}) == "close");
}

TEST_CASE("each note of the reader is told once, for all symbols") {
    const std::string comma = "Date;Open;High;Low;Close\n2024-03-08;2,5;4;1;3\n2024-03-07;1,5;3;0,5;2\n";
    std::vector<Symbol> symbols;
    for (const std::string name : {"A", "B", "C"}) {
        symbols.push_back({name, examples::detail::table_of_text(comma, name + ".csv", {}), true});
    }
    CHECK(notes_of(symbols) ==
          std::vector<std::string>{"The numbers of 'A.csv' are read with decimal commas (--decimal point is the other "
                                   "way). So it is with 2 more symbols.",
                                   "The file 'A.csv' has its newest row first: the rows are turned round. So it is "
                                   "with 2 more symbols.",
                                   "There is no column 'volume'; the model is told 0."});

    symbols[0].table = table_of(file_of({0, 1, 2}));
    CHECK(notes_of(symbols).back() ==
          "There is no column 'volume' for 2 of 3 symbols, such as 'B'; the model is told 0.");

    const std::string epochs =
        "t,o,h,l,c,tickvol\n1704067200,1,3,0.5,2,7\n1704070800,2,4,1,3,7\n1704074400,2,4,1,3,7\n";
    symbols = {{"A", table_of(epochs), true}, {"B", table_of(epochs), true}};
    const std::vector<std::string> notes = notes_of(symbols);
    REQUIRE(notes.size() == 2);
    CHECK(has(notes[0], "'t' holds epoch times"));
    CHECK(notes[1] == "Column 'tickvol' is taken for volume.");
}

TEST_CASE("an amount that prices and a volume are too large for is told of its candle") {
    const std::string rows = "2024-03-07,1,3,0.5,2,10\n2024-03-08,1e38,1e38,1e38,1e38,10\n";
    CHECK(refusal_of("Date,Open,High,Low,Close,Volume\n" + rows)
              .starts_with("The file 'f.csv' has a candle at '2024-03-08' whose volume times the mean of its prices"));
    CHECK(refusal_of("Date,Open,High,Low,Close,Amount\n" + rows).empty());
    CHECK(refusal_of("Date,Open,High,Low,Close,Other\n" + rows).empty());
}

TEST_CASE("a folder has a symbol for each file whose name ends in .csv or .csv.gz, in letters of either case") {
    const totograph::test::ScratchFolder scratch;
    for (const std::string name : {"A.csv", "B.CSV", "C.Csv.GZ", "D.csv.gz", "E.txt", "csv"}) {
        (void)scratch.file(name, "");
    }
    std::string symbols;
    for (const std::filesystem::path& file : examples::detail::candle_files(scratch.path())) {
        symbols += examples::detail::symbol_of_file(file) + " ";
    }
    CHECK(symbols == "A B C D ");
}

TEST_CASE("a float is written in the fewest digits that tell it from others") {
    CHECK(examples::detail::in_fewest_digits(94.7026596F) == 94.70266);
    CHECK(examples::detail::in_fewest_digits(0.1F) == 0.1);
    CHECK(examples::detail::in_fewest_digits(-408179.0F) == -408179);
    CHECK(examples::detail::in_fewest_digits(16777216.0F) == 16777216);
}

TEST_CASE("options of candles that contradict each other") {
    const auto refused = [](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), {"candles", "a.csv"});
        std::ostringstream out;
        return refusal([&] { parse_candles_command(static_cast<int>(arguments.size()), arguments.data(), out); });
    };
    CHECK(refused({"--untrained", "mini"}).empty());
    CHECK(has(refused({"--untrained", "mini", "--tokenizer", "x"}), "leave one of them out"));
    CHECK(has(refused({"--untrained", "mini", "--predictor", "x"}), "leave one of them out"));
    CHECK(has(refused({"--tokenizer", "x"}), "A model is two folders"));
    CHECK(has(refused({}), "A model is two folders"));
    for (const char* output : {"--output", "--svg", "--all-paths"}) {
        CHECK(
            has(refused({"--untrained", "mini", output, "a.csv"}), std::string(output) + " is the input file itself"));
    }
    CHECK(has(refused({"--untrained", "mini", "--output", "x", "--all-paths", "./x"}),
              "--output and --all-paths are the same file"));
    CHECK(has(refused({"--untrained", "mini", "--svg", "-"}), "--svg needs a file"));
    CHECK(has(refused({"--untrained", "mini", "--quantiles", "0.1,1.1"}), "between 0 and 1"));
    // Times a horizon of 4 it would be 0.
    CHECK(has(refused({"--untrained", "mini", "--backtest", "4611686018427387904"}), "--backtest must be at most"));
}

TEST_CASE("quantiles are sorted, each once") {
    const std::vector<const char*> arguments{"candles", "a.csv",       "--untrained",
                                             "mini",    "--quantiles", "0.9,0.5,0.1,0.50"};
    std::ostringstream out;
    const auto options = parse_candles_command(static_cast<int>(arguments.size()), arguments.data(), out);
    REQUIRE(options.has_value());
    CHECK(options->quantiles == std::vector<double>{0.1, 0.5, 0.9});
}
