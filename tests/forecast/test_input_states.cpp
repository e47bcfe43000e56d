// SPDX-License-Identifier: Apache-2.0
// How requests are written to input states.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
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

/// States of which all is padding behind some extents.
struct Padded {
    std::vector<float>& series;
    std::vector<float>& observed;
    tg::SeriesExtents extents;

    void* operator()(std::string_view name) const {
        return name == tg::states::series ? series.data() : name == tg::states::observed ? observed.data() : nullptr;
    }
    tg::SeriesExtents unpadded() const { return extents; }
};

/// States of a program that declares these.
struct States {
    mutable std::map<std::string_view, std::vector<float>> floats{};
    mutable std::map<std::string_view, std::vector<std::int32_t>> integers{};

    void* operator()(std::string_view name) const {
        if (const auto found = floats.find(name); found != floats.end()) {
            return found->second.data();
        }
        const auto found = integers.find(name);
        return found == integers.end() ? nullptr : found->second.data();
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

TEST_CASE("what is padding already is not written") {
    constexpr tg::Bucket bucket{.batch = 3, .variates = 2, .context = 12, .horizon = 4};
    const tg::ForecastSizes sizes(bucket, 4, 0, 0);
    const std::vector<float> values{1, 2, 3, 4, 5, 6};  // two series of one variate, three steps
    const tg::Series series{.batch = 2, .variates = 1, .steps = 3, .values = values};
    constexpr float unwritten = -1;
    std::vector<float> state(3 * 2 * 12, unwritten);
    std::vector<float> marks(state);
    // Of a request before: both variates of the first two series, two patches of each.
    const Padded padded{state, marks, {.batch = 2, .variates = 2, .steps = 8}};
    tg::InputStates(sizes, padded).fill(series, {.batch = 2, .variates = 1, .context = 3, .horizon = 4}, 0);
    const float u = unwritten;
    const std::vector<float> expected{0, 1, 2, 3, 0, 0, 0, 0, u, u, u, u, 0, 0, 0, 0, 0, 0, 0, 0, u, u, u, u,
                                      0, 4, 5, 6, 0, 0, 0, 0, u, u, u, u, 0, 0, 0, 0, 0, 0, 0, 0, u, u, u, u,
                                      u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u};
    CHECK(state == expected);
    std::vector<float> expected_marks(expected);
    for (float& mark : expected_marks) {
        mark = mark > 0 ? 1.0F : mark;
    }
    CHECK(marks == expected_marks);

    // Whoever says more than there is means all.
    std::vector<float> whole(state.size(), unwritten);
    std::vector<float> all_marks(state.size(), unwritten);
    const Padded unknown{whole, all_marks, tg::SeriesExtents::all()};
    tg::InputStates(sizes, unknown).fill(series, {.batch = 2, .variates = 1, .context = 3, .horizon = 4}, 0);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        CAPTURE(i);
        CHECK(whole[i] == (expected[i] == unwritten ? 0.0F : expected[i]));
    }
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

TEST_CASE("lengths, names of draws and a future with gaps are written for what is asked, and for padding") {
    constexpr tg::Bucket bucket{.batch = 3, .variates = 2, .context = 8, .horizon = 4, .exogenous = 1};
    const tg::ForecastSizes sizes(bucket, 4);
    const std::vector<float> values(2 * 2 * 8, 5);
    constexpr float gap = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> future{1, gap, 3, 4, 5, 6};
    const std::vector<std::uint8_t> known{1, 0, 1, 1, 1, 1};
    const tg::Series series{.batch = 2,
                            .variates = 2,
                            .steps = 8,
                            .values = values,
                            .exogenous = 1,
                            .future_exogenous = future,
                            .future_observed = known,
                            .first_series = 9};
    using namespace tg::states;
    States states{.floats = {{tg::states::future, std::vector<float>(24, -1)},
                             {future_observed, std::vector<float>(24, -1)},
                             {is_known, std::vector<float>(6, -1)}},
                  .integers = {{length, {-1, -1, -1}}, {seed, {-1, -1}}, {first_draw, {-1, -1}}}};
    tg::InputStates(sizes, states)
        .fill(series, {.batch = 2, .variates = 2, .context = 8, .horizon = 3}, 0x123456789, 7);
    CHECK(states.integers[length] == std::vector<std::int32_t>{2, 2, 1});
    CHECK(states.integers[seed] == std::vector<std::int32_t>{0x23456789, 1});
    CHECK(states.integers[first_draw] == std::vector<std::int32_t>{9, 7});
    CHECK(states.floats[is_known] == std::vector<float>{0, 1, 0, 1, 0, 0});
    std::vector<float> expected(24, 0);
    expected[4] = 1;
    expected[6] = 3;
    expected[12] = 4;
    expected[13] = 5;
    expected[14] = 6;
    CHECK(states.floats[tg::states::future] == expected);
    std::vector<float> seen(24, 0);
    seen[4] = seen[6] = seen[12] = seen[13] = seen[14] = 1;
    CHECK(states.floats[future_observed] == seen);
}

TEST_CASE("steps before the first one that is observed are no history, but where none is") {
    constexpr tg::Bucket bucket{.batch = 3, .variates = 1, .context = 4, .horizon = 1};
    const tg::ForecastSizes sizes(bucket, 1);
    const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const std::vector<std::uint8_t> observed{0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1};
    const tg::Series series{.batch = 3, .variates = 1, .steps = 4, .values = values, .observed = observed};
    using namespace tg::states;
    States states{.floats = {{tg::states::series, std::vector<float>(12, -1)}}, .integers = {{length, {-1, -1, -1}}}};
    const tg::InputStates inputs(sizes, states);
    inputs.fill(series, {.batch = 3, .variates = 1, .context = 4, .horizon = 1}, 0);
    inputs.drop_leading_gaps(series);
    CHECK(states.integers[length] == std::vector<std::int32_t>{2, 4, 4});
    CHECK(states.floats[tg::states::series] == std::vector<float>{3, 4, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12});
}
