// SPDX-License-Identifier: Apache-2.0
// How requests are written to input states.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/states.hpp>

namespace {

namespace tg = totograph;

/// The state `series`, and what of it was complete when the writer said so.
struct Told {
    std::vector<float>& series;
    std::vector<std::vector<float>>& parts;

    void* operator()(std::string_view name) const { return name == tg::states::series ? series.data() : nullptr; }
    void written(const void* end) const {
        const float* const begin = series.data();
        parts.emplace_back(begin, static_cast<const float*>(end));
    }
};

}  // namespace

TEST_CASE("who is told what is written finds each row complete, one after the other") {
    constexpr tg::Bucket bucket{.batch = 3, .variates = 2, .context = 8, .horizon = 4};
    const tg::ForecastSizes sizes(bucket, 4, 0, 0);
    const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // two series of two variates, three steps
    const tg::Series series{.batch = 2, .variates = 2, .steps = 3, .values = values};
    constexpr float unwritten = -1;
    std::vector<float> state(3 * 2 * 8, unwritten);
    std::vector<std::vector<float>> parts;
    const Told told{state, parts};
    tg::InputStates(sizes, told).fill(series, {.batch = 2, .variates = 2, .context = 3, .horizon = 4}, 0);
    REQUIRE(parts.size() == 6);
    for (std::size_t row = 0; row < parts.size(); ++row) {
        REQUIRE(parts[row].size() == (row + 1) * 8);
        CHECK(parts[row] ==
              std::vector<float>(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(row + 1) * 8));
    }
    CHECK(parts[1] == std::vector<float>{0, 1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0});

    // Nobody needs to be told.
    const auto silent = [&](std::string_view name) -> void* { return told(name); };
    std::vector<float> again(state.size(), unwritten);
    state.swap(again);
    tg::InputStates(sizes, silent).fill(series, {.batch = 2, .variates = 2, .context = 3, .horizon = 4}, 0);
    CHECK(state == again);
    CHECK(parts.size() == 6);
}

TEST_CASE("gaps are filled as the family says, before anybody is told that a row is complete") {
    constexpr tg::Bucket bucket{.batch = 2, .variates = 2, .context = 8, .horizon = 4};
    const tg::ForecastSizes sizes(bucket, 4, 0, 0);
    // Rows of five steps lie in six elements each; three steps of padding come before them.
    const std::vector<float> values{1, 9, 9, 4, 5, 0, 9, 2, 9, 4, 9, 0};
    const std::vector<std::uint8_t> observed{1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    const tg::Series series{.batch = 1, .variates = 2, .steps = 5, .values = values, .observed = observed, .stride = 6};
    const auto filled = [&](tg::Imputation how) {
        std::vector<float> state(2 * 2 * 8, -1);
        std::vector<std::vector<float>> parts;
        const Told told{state, parts};
        tg::InputStates(sizes, told).fill(series, {.variates = 2, .context = 5, .horizon = 4}, 0, 0, how);
        REQUIRE(parts.size() == 4);
        CHECK(parts.back() == state);
        CHECK(std::vector<float>(state.begin() + 16, state.end()) == std::vector<float>(16));
        state.resize(16);
        return state;
    };
    CHECK(filled(tg::Imputation::as_given) == std::vector<float>{0, 0, 0, 1, 9, 9, 4, 5, 0, 0, 0, 9, 2, 9, 4, 9});
    CHECK(filled(tg::Imputation::forward_fill) == std::vector<float>{0, 0, 0, 1, 1, 1, 4, 5, 0, 0, 0, 0, 2, 2, 4, 4});
    CHECK(filled(tg::Imputation::linear) == std::vector<float>{0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 2, 3, 4, 4});
}
