// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/drift_file.hpp>
#include <totograph/diagnostics/levels_text.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>

#include "io/support.hpp"

using namespace totograph;
using serve::DriftSet;
using test::check_error;

namespace {

/// One recorded forecast of quantiles, of two variates and two steps.
DriftSet quantiles() {
    DriftSet::Case one;
    one.name = "quantiles";
    one.request.sizes = {.variates = 2, .context = 3, .horizon = 2};
    one.request.values = {1, 2, 3, 4, 5, 6};
    one.request.observed = {1, 1, 1, 1, 1, 1};
    one.request.scales = {1, 1};
    one.forecast = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    one.levels = {0.1, 0.5, 0.9};
    return {"build", "fake", "default", {one}};
}

}  // namespace

TEST_CASE("recorded quantiles are read back with their levels") {
    const test::ScratchFolder folder;
    const auto path = folder.path() / "forecasts.safetensors";
    const DriftSet set = quantiles();
    serve::save_forecasts(set, path);
    const DriftSet read = serve::load_forecasts(path);
    REQUIRE(read.cases.size() == 1);
    CHECK(read.cases[0].request.sizes == set.cases[0].request.sizes);
    CHECK(read.cases[0].levels == set.cases[0].levels);
    CHECK(read.cases[0].forecast == set.cases[0].forecast);
    CHECK(read.cases[0].view().quantile(0.9) == std::vector<float>{3, 6, 9, 12});

    const std::string bytes = test::content_of(path);
    for (const std::string wrong : {"0.1 0.9 0.5", "0.1 0.5 1.5", "0.1,0.5,0.9", "0.10000 0.5", "0.1 nan 0.9"}) {
        CAPTURE(wrong);
        std::string changed = bytes;
        changed.replace(changed.find("0.1 0.5 0.9"), wrong.size(), wrong);
        check_error(ErrorCode::invalid_file, {"'0.levels'", "not the levels"},
                    [&] { (void)serve::load_forecasts(folder.file("changed", changed)); });
    }
}

TEST_CASE("a recorded forecast has the series and variates of its request") {
    const test::ScratchFolder folder;
    const auto path = folder.path() / "forecasts.safetensors";
    const std::vector<float> numbers(24, 1);
    const auto load = [&](const std::vector<Index>& observed, const std::vector<Index>& forecast) {
        const auto tensor = [&](std::string name, const std::vector<Index>& shape) {
            const auto count = static_cast<std::size_t>(shape[0] * shape[1] * shape[2]);
            return io::TensorToWrite{
                .name = std::move(name), .shape = shape, .values = std::span(numbers).first(count)};
        };
        const std::vector tensors{tensor("0.values", {2, 2, 3}), tensor("0.observed", observed),
                                  tensor("0.forecast", forecast)};
        io::write_safetensors(
            path, tensors,
            {{"format", std::string(serve::detail::drift_format)}, {"cases", "1"}, {"0.name", "one"}, {"0.seed", "0"}});
        return serve::load_forecasts(path).cases.at(0).request.sizes;
    };
    CHECK(load({2, 2, 3}, {2, 2, 4}) == Bucket{.batch = 2, .variates = 2, .context = 3, .horizon = 4});
    const std::vector<Index> same{2, 2, 3};
    for (const std::vector<Index>& wrong : {std::vector<Index>{1, 2, 4}, {2, 1, 4}, {2, 3, 4}, {2, 2, 0}}) {
        check_error(ErrorCode::invalid_file, {"shapes of case 0 contradict"}, [&] { (void)load(same, wrong); });
    }
    for (const std::vector<Index>& wrong : {std::vector<Index>{2, 2, 2}, {2, 3, 2}, {4, 1, 3}}) {
        check_error(ErrorCode::invalid_file, {"shapes of case 0 contradict"}, [&] { (void)load(wrong, {2, 2, 4}); });
    }
}

TEST_CASE("quantiles are compared with those of the same levels") {
    const DriftSet set = quantiles();
    DriftSet::Case other = set.cases[0];
    other.forecast[11] += 8;
    const auto compare = [&](const Forecast& found, serve::Compared compared) {
        return serve::compare_forecasts(found, set.cases[0].view(), set.cases[0].request.scales,
                                        {.compared = compared});
    };
    CHECK(compare(other.view(), serve::Compared::values).variates[1].largest > 0);
    CHECK(compare(other.view(), serve::Compared::values).variates[0].is_bitwise_equal);
    CHECK(compare(other.view(), serve::Compared::summaries).variates[1].largest == 0);  // of the medians
    other.levels = {0.1, 0.5, 0.8};
    check_error(ErrorCode::invalid_argument, {"levels 0.1 0.5 0.8", "levels 0.1 0.5 0.9"},
                [&] { (void)compare(other.view(), serve::Compared::values); });
}

TEST_CASE("a value that is not finite counts once, also where the forecast counts it") {
    const std::vector<float> expected{1, 2, 3, 4};
    const std::vector<float> found{1, std::numeric_limits<float>::quiet_NaN(), 3, 4};
    const std::vector<double> scales{1.0};
    CHECK(serve::compare_forecasts({found, 1, 1, 4, 0, 1}, {expected, 1, 1, 4, 0}, scales, {}).variates[0].not_finite ==
          1);
}

TEST_CASE("levels are text and back") {
    CHECK(serve::detail::levels_text(std::vector{0.1, 0.25, 0.1 + 0.2}) == "0.1 0.25 0.30000000000000004");
    CHECK(serve::detail::parse_levels("0.1 0.30000000000000004") == std::vector{0.1, 0.1 + 0.2});
    for (const char* const wrong : {"", " ", "0.1 ", " 0.1", "0.1  0.2", "0.1 0.1", "0 0.5", "0.5 1", "nan", "0.5x"}) {
        CAPTURE(wrong);
        CHECK(serve::detail::parse_levels(wrong) == std::nullopt);
    }
}
