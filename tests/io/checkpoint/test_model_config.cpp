// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <totograph/io/checkpoint/model_config.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::ScratchFolder;

constexpr std::string_view mixture = R"({
 "patch_size": 8,
 "embed_dim": 32,
 "dropout": 0.1,
 "spacewise_every_n_layers": -1,
 "spacewise_first": false,
 "scaler_cls": "<class 'model.scaler.CausalPatchStdMeanScaler'>",
 "output_distribution_classes": [
  "<class 'model.distribution.MixtureOfStudentTsOutput'>"
 ],
 "output_distribution_kwargs": {
  "k_components": 3
 },
 "scale_factor_exponent": 10.0,
 "torch_dtype": null,
 "huge": 18446744073709551615
})";

io::ModelConfig parse(std::string_view text) {
    return io::ModelConfig::parse(text, "checkpoint/config.json");
}

void mismatches(std::string_view part, const auto& action) {
    check_error(ErrorCode::config_mismatch, {"checkpoint/config.json", part}, action);
}

}  // namespace

TEST_CASE("model config: fields are read by type and path") {
    const auto config = parse(mixture);
    CHECK(config.integer("patch_size") == 8);
    CHECK(config.integer("spacewise_every_n_layers") == -1);
    CHECK(config.integer("output_distribution_kwargs.k_components") == 3);
    CHECK(config.number("dropout") == 0.1);
    CHECK(config.number("scale_factor_exponent") == 10.0);
    CHECK(config.number("patch_size") == 8.0);
    CHECK_FALSE(config.boolean("spacewise_first"));
    CHECK(config.text("output_distribution_classes.0") == "<class 'model.distribution.MixtureOfStudentTsOutput'>");
    CHECK(config.file_name() == "checkpoint/config.json");
}

TEST_CASE("model config: presence is told apart from null") {
    const auto config = parse(mixture);
    CHECK(config.contains("patch_size"));
    CHECK(config.contains("torch_dtype"));
    CHECK(config.is_null("torch_dtype"));
    CHECK_FALSE(config.is_null("patch_size"));
    CHECK_FALSE(config.contains("stride"));
    CHECK_FALSE(config.is_null("stride"));
    CHECK_FALSE(config.contains(""));
    CHECK_FALSE(config.contains("patch_size.0"));
    CHECK_FALSE(config.contains("torch_dtype.0"));
    CHECK_FALSE(config.contains("output_distribution_classes.1"));
    CHECK_FALSE(config.contains("output_distribution_classes.-1"));
    CHECK_FALSE(config.contains("output_distribution_classes.0x"));
    CHECK_FALSE(config.contains("output_distribution_classes."));
    CHECK_FALSE(config.contains("output_distribution_classes.99999999999999999999999"));
    CHECK_FALSE(config.contains("output_distribution_kwargs."));
    CHECK(parse(R"({"": {"": 5}})").integer(".") == 5);
}

TEST_CASE("model config: a missing field takes the fallback and a wrong one does not") {
    const auto config = parse(mixture);
    CHECK(config.integer("stride", 8) == 8);
    CHECK(config.integer("patch_size", 5) == 8);
    CHECK(config.number("missing", 0.5) == 0.5);
    CHECK(config.boolean("missing", true));
    CHECK(config.text("missing", "word") == "word");
    CHECK(config.integer("torch_dtype.missing", 4) == 4);
    mismatches("'torch_dtype'", [&] { static_cast<void>(config.integer("torch_dtype", 4)); });
    mismatches("'dropout'", [&] { static_cast<void>(config.boolean("dropout", true)); });
}

TEST_CASE("model config: missing and wrongly typed fields are named with what was found") {
    const auto config = parse(mixture);
    mismatches("'stride' of the configuration", [&] { static_cast<void>(config.integer("stride")); });
    mismatches("must be of the type integer, but found nothing", [&] { static_cast<void>(config.integer("stride")); });
    mismatches("but found nothing, because 'torch_dtype' is null",
               [&] { static_cast<void>(config.integer("torch_dtype.bits")); });
    mismatches("type integer, but found 0.1", [&] { static_cast<void>(config.integer("dropout")); });
    mismatches("type integer, but found 10.0", [&] { static_cast<void>(config.integer("scale_factor_exponent")); });
    mismatches("type integer, but found 18446744073709551615", [&] { static_cast<void>(config.integer("huge")); });
    mismatches("type integer, but found false", [&] { static_cast<void>(config.integer("spacewise_first")); });
    mismatches("type number, but found false", [&] { static_cast<void>(config.number("spacewise_first")); });
    mismatches("type number, but found null", [&] { static_cast<void>(config.number("torch_dtype")); });
    mismatches("type boolean, but found 8", [&] { static_cast<void>(config.boolean("patch_size")); });
    mismatches("type string, but found {\"k_components\":3}",
               [&] { static_cast<void>(config.text("output_distribution_kwargs")); });
}

TEST_CASE("model config: numbers that are not finite, as Python writes them") {
    const auto config = parse(R"({"dropout": NaN, "most": Infinity, "least": -Infinity, "patch_size": 8})");
    CHECK(config.integer("patch_size") == 8);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK(config.number("most") == infinity);
    CHECK(config.number("least") == -infinity);
    io::ConfigCheck(config).integer("patch_size", 8).number("most", infinity).number("least", -infinity).finish();
    mismatches("type number, but found NaN", [&] { static_cast<void>(config.number("dropout")); });
    mismatches("type integer, but found Infinity", [&] { static_cast<void>(config.integer("most")); });
    mismatches("'least': expected 0.5, found -Infinity",
               [&] { io::ConfigCheck(config).number("least", 0.5).finish(); });
    mismatches("'dropout': expected 0.5, found NaN", [&] { io::ConfigCheck(config).number("dropout", 0.5).finish(); });
}

TEST_CASE("model config: files that are missing or no JSON object are refused") {
    const ScratchFolder folder;
    check_error(ErrorCode::file_not_found, {"config.json", "No such file or directory"},
                [&] { io::ModelConfig config(folder.path() / "config.json"); });
    check_error(ErrorCode::file_not_found, {"is a directory"}, [&] { io::ModelConfig config(folder.path()); });
    check_error(ErrorCode::invalid_file, {"config.json", "not JSON", "line 2"},
                [&] { io::ModelConfig config(folder.file("config.json", "{\"a\": 1,\n\"b\" 2}")); });
    check_error(ErrorCode::invalid_file, {"config.json", "not JSON"},
                [&] { io::ModelConfig config(folder.file("config.json", "")); });
    check_error(ErrorCode::invalid_file, {"config.json", "JSON object"},
                [&] { io::ModelConfig config(folder.file("config.json", "[]")); });
    check_error(ErrorCode::invalid_file, {"config.json", "'a' twice"},
                [&] { io::ModelConfig config(folder.file("config.json", R"({"a": 1, "a": 2})")); });
    CHECK(io::ModelConfig(folder.file("config.json", mixture)).integer("embed_dim") == 32);
}

TEST_CASE("config check: a configuration that fits passes") {
    const auto config = parse(mixture);
    io::ConfigCheck check(config);
    check.integer("patch_size", 8)
        .integer("stride", 8, 8)
        .integer("output_distribution_kwargs.k_components", 3)
        .number("scale_factor_exponent", 10.0)
        .number("dropout", 0.1)
        .number("embed_dim", 32.0)
        .boolean("spacewise_first", false, true)
        .boolean("stabilize_with_global", true, true)
        .text("scaler_cls", "<class 'model.scaler.CausalPatchStdMeanScaler'>")
        .text("output_distribution_classes.0", "<class 'model.distribution.MixtureOfStudentTsOutput'>");
    CHECK(check.differences().empty());
    CHECK_NOTHROW(check.finish());
}

TEST_CASE("config check: every differing, missing and wrongly typed field has its line") {
    const auto config = parse(mixture);
    io::ConfigCheck check(config);
    check.integer("patch_size", 64)
        .integer("embed_dim", 32)
        .integer("stride", 64)
        .integer("num_layers", 12, 6)
        .number("scale_factor_exponent", 0.3)
        .boolean("spacewise_first", true)
        .boolean("dropout", true)
        .integer("torch_dtype", 1, 1)
        .integer("torch_dtype.bits", 16)
        .text("output_distribution_classes.0", "<class 'model.distribution.StudentTOutput'>")
        .text("output_distribution_classes.1", "x");
    CHECK(check.differences().size() == 10);
    try {
        check.finish();
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::config_mismatch);
        const std::string message = error.what();
        CAPTURE(message);
        CHECK(std::count(message.begin(), message.end(), '\n') == 11);
        for (
            const std::string_view line : {
                "differs from the compiled model in 10 fields:\n",
                "\n  'checkpoint/config.json': the field 'patch_size': expected 64, found 8\n",
                "the field 'stride': expected 64, found nothing\n",
                "the field 'num_layers': expected 12, found nothing, which means 6\n",
                "the field 'scale_factor_exponent': expected 0.3, found 10.0\n",
                "the field 'spacewise_first': expected true, found false\n",
                "the field 'dropout': expected true, found 0.1\n",
                "the field 'torch_dtype': expected 1, found null\n",
                "the field 'torch_dtype.bits': expected 16, found nothing, because 'torch_dtype' is null\n",
                R"(the field 'output_distribution_classes.0': expected "<class 'model.distribution.StudentTOutput'>", found ")",
                "found \"<class 'model.distribution.MixtureOfStudentTsOutput'>\"\n",
                "the field 'output_distribution_classes.1': expected \"x\", found nothing\n",
            }) {
            CAPTURE(std::string(line));
            CHECK(message.find(line) != std::string::npos);
        }
        CHECK(message.find("embed_dim") == std::string::npos);
    }
}

TEST_CASE("config check: null in place of keyword arguments reads as absent fields") {
    const auto config = parse(R"({"output_distribution_kwargs": null})");
    CHECK_NOTHROW(io::ConfigCheck(config).integer("output_distribution_kwargs.k_components", 24, 24).finish());
    mismatches("expected 3, found nothing, because 'output_distribution_kwargs' is null, which means 24",
               [&] { io::ConfigCheck(config).integer("output_distribution_kwargs.k_components", 3, 24).finish(); });
    mismatches("in 1 field:", [&] { io::ConfigCheck(config).integer("patch_size", 3).finish(); });
}

TEST_CASE("config check: long and hostile values are shown short and escaped") {
    const auto config = parse(R"({"a": ")" + std::string(100'000, 'x') + R"(", "b": "\u001b[2J"})");
    try {
        io::ConfigCheck(config).text("a", "y").text("b", "y").finish();
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        const std::string message = error.what();
        CHECK(message.size() < 1000);
        CHECK(message.find('\x1b') == std::string::npos);
    }
}

TEST_CASE("config check: a temporary configuration cannot be checked") {
    static_assert(!std::is_constructible_v<io::ConfigCheck, io::ModelConfig>);
    static_assert(std::is_constructible_v<io::ConfigCheck, const io::ModelConfig&>);
    const auto config = parse(R"({"largest": 9223372036854775807, "smallest": -9223372036854775808})");
    CHECK(config.integer("largest") == std::numeric_limits<Index>::max());
    CHECK(config.integer("smallest") == std::numeric_limits<Index>::min());
}
