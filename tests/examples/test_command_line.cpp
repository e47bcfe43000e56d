// SPDX-License-Identifier: Apache-2.0
#include "../../examples/forecast/command_line.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "../../examples/common/exit_codes.hpp"
#include "../io/support.hpp"

using namespace examples;
using totograph::ErrorCode;

namespace {

std::optional<Options> parse(std::vector<const char*> arguments, std::ostream& out) {
    arguments.insert(arguments.begin(), "forecast");
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), out);
}

Options parsed(const std::vector<const char*>& arguments) {
    std::ostringstream out;
    std::optional<Options> options = parse(arguments, out);
    REQUIRE(options);
    CHECK(out.str().empty());
    return *options;
}

/// The sentence that a command line is refused with.
std::string refusal(const std::vector<const char*>& arguments) {
    std::ostringstream out;
    try {
        parse(arguments, out);
    } catch (const totograph::Error& error) {
        CHECK(error.code() == ErrorCode::invalid_argument);
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("defaults") {
    const Options options = parsed({"a.csv"});
    CHECK(options.input == "a.csv");
    CHECK(options.targets.empty());
    CHECK(options.context == 0);
    CHECK(options.horizon == 60);
    CHECK(options.samples == 128);
    CHECK(options.seed == 0);
    CHECK(options.sampling.empty());
    CHECK(options.quantiles == std::vector<double>{0.1, 0.9});
    CHECK(!options.bounds.any());
    CHECK(options.checkpoint.empty());
    CHECK(options.wants_chart());
    CHECK(options.wants_forecast());
}

TEST_CASE("every option arrives") {
    const Options options = parsed({"--targets",
                                    "a, b",
                                    "a.csv",
                                    "--targets",
                                    "c",
                                    "--exogenous",
                                    "d,e",
                                    "--timestamp",
                                    "when",
                                    "--separator",
                                    ";",
                                    "--context",
                                    "512",
                                    "--horizon",
                                    "7",
                                    "--samples",
                                    "9",
                                    "--seed",
                                    "18446744073709551615",
                                    "--quantiles",
                                    "0.9,0.25,0.9",
                                    "--checkpoint",
                                    "dir",
                                    "--threads",
                                    "2",
                                    "--output",
                                    "o.csv",
                                    "--svg",
                                    "o.svg",
                                    "--dot",
                                    "o.dot",
                                    "--table",
                                    "--chart",
                                    "--explain",
                                    "--holdout",
                                    "--quiet"});
    CHECK(options.input == "a.csv");
    CHECK(options.targets == std::vector<std::string>{"a", "b", "c"});
    // In quotes of their own, as in a CSV, names may have commas.
    const Options named = parsed({"a.csv", "--targets", "\"a, b\" ,c,\"say \"\"x\"\", y\",5\" pipe"});
    CHECK(named.targets == std::vector<std::string>{"a, b", "c", "say \"x\", y", "5\" pipe"});
    CHECK(options.exogenous == std::vector<std::string>{"d", "e"});
    CHECK(options.intake.timestamp == "when");
    CHECK(csv_options(options.intake).separator == ';');
    CHECK(options.context == 512);
    CHECK(options.horizon == 7);
    CHECK(options.samples == 9);
    CHECK(options.sampling == "--samples");
    CHECK(options.seed == 18446744073709551615ULL);
    CHECK(options.quantiles == std::vector<double>{0.25, 0.9});
    CHECK(options.checkpoint == "dir");
    CHECK(options.threads == 2);
    CHECK(options.output == "o.csv");
    CHECK(options.svg == "o.svg");
    CHECK(options.dot == "o.dot");
    CHECK((options.table && options.chart && options.explain && options.holdout && options.quiet));
    CHECK(parsed({"a.csv", "--independent"}).independent);
    CHECK(parsed({"a.csv", "--holdout", "--season", "7"}).season == 7);
    const Bounds bounds = parsed({"a.csv", "--min", "-1.5", "--max", "100"}).bounds;
    CHECK((bounds.low == -1.5 && bounds.high == 100));
}

TEST_CASE("what is shown") {
    CHECK(!parsed({"a.csv", "--no-chart"}).wants_chart());
    CHECK(parsed({"a.csv", "--no-chart"}).wants_forecast());
    CHECK(!parsed({"a.csv", "--table"}).wants_chart());
    CHECK(parsed({"a.csv", "--table", "--chart"}).wants_chart());
    CHECK(parsed({"a.csv", "--output", "o.csv"}).wants_chart());
    CHECK(!parsed({"a.csv", "--output", "-"}).wants_chart());
    CHECK(!parsed({"a.csv", "--explain"}).wants_forecast());
    CHECK(!parsed({"a.csv", "--dot", "o.dot"}).wants_forecast());
    CHECK(parsed({"a.csv", "--explain", "--svg", "o.svg"}).wants_forecast());
}

TEST_CASE("help and version answer and stop") {
    std::ostringstream help;
    CHECK(!parse({"--help"}, help));
    for (const char* part : {"Examples:", "Exit codes:", "--targets", "--holdout", "FILE.csv"}) {
        CHECK(has(help.str(), part));
    }
    std::ostringstream version;
    CHECK(!parse({"--version"}, version));
    CHECK(version.str() == "forecast " + std::string(totograph::version) + "\n");
}

TEST_CASE("what an argument says stands in one line of a message, and steers no terminal") {
    const char* const foreign = "x\nEVIL\x1b[31m";
    const std::vector<std::vector<const char*>> cases = {{"a.csv", "--date-format", foreign},
                                                         {"a.csv", "--horizon", foreign},
                                                         {"a.csv", "--quantiles", foreign},
                                                         {"a.csv", "--separator", foreign},
                                                         {"a.csv", "--decimal", foreign},
                                                         {"a.csv", "--min", foreign},
                                                         {"a.csv", "--targets", "a,,\nEVIL"},
                                                         {"a.csv", "--EVIL\n", "5"},
                                                         {"a.csv", "b", "\nEVIL"},
                                                         {"a.csv", "--targets", "\nEVIL,\nEVIL"},
                                                         {"a.csv", "--targets", "\nEVIL", "--exogenous", "\nEVIL"}};
    for (const std::vector<const char*>& arguments : cases) {
        const std::string refused = refusal(arguments);
        CAPTURE(refused);
        CHECK(has(refused, "EVIL"));
        CHECK(has(refused, "\\x0a"));
        CHECK(refused.find_first_of("\n\x1b") == std::string::npos);
    }
}

TEST_CASE("a command line that cannot be used is refused in a sentence that names the option") {
    struct Case {
        std::vector<const char*> arguments;
        const char* part;
    };
    const Case cases[] = {
        {{}, "Name the CSV file"},
        {{"a.csv", "--bogus"}, "--bogus"},
        {{"a.csv", "b.csv"}, "b.csv"},
        {{"a.csv", "--horizon"}, "--horizon"},
        {{"a.csv", "--horizon", "0"}, "--horizon must be at least 1"},
        {{"a.csv", "--horizon", "1.5"}, "--horizon: expects a whole number"},
        {{"a.csv", "--horizon", "99999999999999999999"}, "--horizon: expects a whole number"},
        {{"a.csv", "--samples", "-1"}, "--samples must be at least 0"},
        {{"a.csv", "--context", "-5"}, "--context must be at least 0"},
        {{"a.csv", "--threads", "-1"}, "--threads must be at least 0"},
        {{"a.csv", "--threads", "100000"}, "--threads must be at most 4096"},
        {{"a.csv", "--checkpoint", ""}, "The value of --checkpoint is empty"},
        {{"a.csv", "--separator", ""}, "The value of --separator is empty"},
        {{"a.csv", "--horizont", "5"}, "There is no option '--horizont'; did you mean --horizon;"},
        {{"a.csv", "--sample=5"}, "There is no option '--sample'; did you mean --samples;"},
        {{"a.csv", "--colour", "red"}, "There is no option '--colour';"},
        {{"a.csv", "b.csv"}, "The argument 'b.csv' was not expected"},
        {{"a.csv", "--seed", "-1"}, "--seed: expects a whole number"},
        {{"a.csv", "--quantiles", "0.5,1"}, "one is 1"},
        {{"a.csv", "--quantiles", "0"}, "one is 0"},
        {{"a.csv", "--quantiles", "nan"}, "--quantiles"},
        {{"a.csv", "--quantiles", "half"}, "got 'half'"},
        {{"a.csv", "--quantiles", "0.5", "--samples", "0"}, "--samples is 0"},
        {{"a.csv", "--min", "5", "--max", "5"}, "--min must be below --max, but they are 5 and 5"},
        {{"a.csv", "--min", "nan"}, "--min"},
        {{"a.csv", "--min", "inf"}, "--min is infinite, which leaves no room"},
        {{"a.csv", "--max=-1e400"}, "--max is infinite, which leaves no room"},
        {{"a.csv", "--max", "all"}, "--max"},
        {{"a.csv", "--season", "12"}, "--season belongs to the baseline of --holdout"},
        {{"a.csv", "--holdout", "--season", "-1"}, "--season must be at least 0"},
        {{"a.csv", "--targets", "a,,b"}, "empty entry"},
        {{"a.csv", "--targets", "\"a,b"}, "--targets has quotes that do not match"},
        {{"a.csv", "--targets", "\"a,b\",\"a,b\""}, "'a,b' twice"},
        {{"a.csv", "--targets", "a,a"}, "'a' twice"},
        {{"a.csv", "--targets", "a,b", "--exogenous", "b"}, "'b' is in --targets and in --exogenous"},
        {{"a.csv", "--independent", "--exogenous", "b"}, "--independent"},
        {{"a.csv", "--chart", "--no-chart"}, "contradict"},
        {{"a.csv", "--output", "-", "--chart"}, "--chart would mix"},
        {{"a.csv", "--output", "-", "--table"}, "--table would mix"},
        {{"a.csv", "--output", "-", "--explain"}, "--explain would mix"},
        {{"a.csv", "--output", "x", "--svg", "./x"}, "--output and --svg are the same file"},
        {{"a.csv", "--svg", "x", "--dot", "x"}, "--svg and --dot are the same file"},
        {{"a.csv", "--separator", ";;"}, "--separator"},
        {{"a.csv", "--decimal", "dot"}, "--decimal is point or comma, but it is 'dot'"},
        {{"a.csv", "--date-format", "us"}, "--date-format is ymd or mdy or dmy"},
        {{"a.csv", "--strict", "--as-is"}, "contradict"},
    };
    for (const Case& wrong : cases) {
        const std::string sentence = refusal(wrong.arguments);
        CAPTURE(wrong.part);
        CAPTURE(sentence);
        CHECK(has(sentence, wrong.part));
        CHECK(sentence.back() == '.');
    }
}

TEST_CASE("the input file is never an output") {
    const totograph::test::ScratchFolder folder;
    const std::string file = folder.file("input.csv", "a\n1\n").string();
    const std::string same = (folder.path() / "link.csv").string();
    std::filesystem::create_symlink(file, same);
    CHECK(has(refusal({file.c_str(), "--output", file.c_str()}), "--output is the input file itself"));
    CHECK(has(refusal({file.c_str(), "--svg", same.c_str()}), "--svg is the input file itself"));
}

TEST_CASE("exit codes follow the error and what was being done") {
    CHECK(exit_code(ErrorCode::invalid_argument, Stage::arguments) == 2);
    CHECK(exit_code(ErrorCode::invalid_argument, Stage::input) == 2);
    CHECK(exit_code(ErrorCode::file_not_found, Stage::input) == 3);
    CHECK(exit_code(ErrorCode::invalid_file, Stage::input) == 3);
    CHECK(exit_code(ErrorCode::io_failure, Stage::input) == 3);
    CHECK(exit_code(ErrorCode::invalid_series, Stage::input) == 3);
    CHECK(exit_code(ErrorCode::invalid_series, Stage::forecast) == 3);
    for (const ErrorCode code :
         {ErrorCode::file_not_found, ErrorCode::invalid_file, ErrorCode::io_failure, ErrorCode::config_mismatch,
          ErrorCode::missing_tensor, ErrorCode::unexpected_tensor, ErrorCode::tensor_mismatch}) {
        CHECK(exit_code(code, Stage::checkpoint) == 4);
    }
    CHECK(exit_code(ErrorCode::no_bucket, Stage::forecast) == 5);
    CHECK(exit_code(ErrorCode::not_finite, Stage::forecast) == 8);
    CHECK(exit_code(ErrorCode::tensor_mismatch, Stage::forecast) == 4);
    for (const ErrorCode code : {ErrorCode::file_not_found, ErrorCode::io_failure, ErrorCode::invalid_argument}) {
        CHECK(exit_code(code, Stage::output) == 6);
    }
    CHECK(exit_code(ErrorCode::io_failure, Stage::forecast) == 1);
}
