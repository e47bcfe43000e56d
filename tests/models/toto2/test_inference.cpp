// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

#include "io/support.hpp"
#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

// What forecasts do that the reference does otherwise, and what follows from the choices of `Inference`.

namespace {

using namespace toto2_fixture;
using tg::Imputation;
using tg::toto2::Inference;
using Checkpoint = toto2_cases::leading_gaps_blocks;

constexpr tg::Bucket bucket{.variates = 2, .context = 40, .horizon = 40};

/// The defaults, in blocks of two patches.
struct Blocks {
    using Checkpoint = toto2_cases::leading_gaps_blocks;
    static constexpr tg::toto2::Toto2Config config = Checkpoint::config;
    static constexpr Inference inference{.decode_block_size = 16};
};
/// As the reference has it.
struct ReferenceGroups : Blocks {
    static constexpr Inference inference{.decode_block_size = 16, .reference_block_groups = true};
};
struct OnePass : Blocks {
    static constexpr Inference inference{};
};
struct Uncapped : Blocks {
    static constexpr Inference inference{.quantile_real_cap_k = 0};
};
struct AllObserved : Blocks {
    static constexpr Inference inference{.has_missing_values = false};
};
struct AsGiven : Blocks {
    static constexpr Inference inference{.imputation = Imputation::as_given};
};

/// Two variates whose first two patches are not observed.
struct Request {
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    std::vector<std::int32_t> groups{0, 1};

    Request() {
        for (int step = 0; step < 80; ++step) {
            values.push_back(static_cast<float>(2.0 * std::sin(0.4 * step) + 0.1 * (step % 3)));
            observed.push_back(step % 40 < 16 ? 0 : 1);
        }
    }
    [[nodiscard]] tg::Series series() const {
        return {.variates = 2, .steps = 40, .values = values, .observed = observed, .groups = groups};
    }
};

template <class Model>
std::vector<float> forecast(const Request& request) {
    static tg::EagerForecaster forecaster(tg::load<Checkpoint>(folder("leading_gaps_blocks")).weights,
                                          tg::record_forecast<Model, bucket>());
    const tg::Forecast result = forecaster.forecast(request.series());
    CHECK(result.is_finite());
    return {result.values().begin(), result.values().end()};
}

/// Whether the first variate's forecast depends on the second one's values.
template <class Model>
bool sees_other_group() {
    Request request;
    const auto before = forecast<Model>(request);
    for (std::size_t step = 56; step < 80; ++step) {
        request.values[step] *= -3;
    }
    const auto after = forecast<Model>(request);
    const auto half = static_cast<std::ptrdiff_t>(before.size() / 2);
    CHECK(!std::equal(before.begin() + half, before.end(), after.begin() + half));
    return !std::equal(before.begin(), before.begin() + half, after.begin());
}

}  // namespace

TEST_CASE("separate groups do not see each other, in any block") {
    CHECK_FALSE(sees_other_group<OnePass>());
    CHECK_FALSE(sees_other_group<Blocks>());
    // In the reference they do once both begin with patches without observations.
    CHECK(sees_other_group<ReferenceGroups>());
}

TEST_CASE("what stands in a gap is not read, unless the caller's values are taken as given") {
    Request zeros;
    Request others;
    for (const std::size_t step : {std::size_t{20}, std::size_t{38}, std::size_t{39}}) {
        zeros.observed[step] = others.observed[step] = 0;
        zeros.values[step] = 0;
        others.values[step] = 100;
    }
    CHECK(forecast<OnePass>(zeros) == forecast<OnePass>(others));
    CHECK(forecast<AsGiven>(zeros) != forecast<AsGiven>(others));
    // NaN, which makes NaN of a whole series in the reference, is a gap like others.
    others.values[38] = others.values[39] = std::numeric_limits<float>::quiet_NaN();
    CHECK(forecast<OnePass>(zeros) == forecast<OnePass>(others));
}

TEST_CASE("quantiles ascend, and stay within the cap") {
    Request request;
    std::fill(request.observed.begin(), request.observed.begin() + 38, std::uint8_t{0});
    for (const auto& values : {forecast<OnePass>(request), forecast<Blocks>(request)}) {
        for (std::size_t point = 0; point < values.size(); point += 9) {
            CHECK(std::is_sorted(values.begin() + static_cast<std::ptrdiff_t>(point),
                                 values.begin() + static_cast<std::ptrdiff_t>(point) + 9));
        }
    }
}

TEST_CASE("what overflows is the largest finite value of its patch, and no forecast without a mark") {
    Request request;
    for (float& value : request.values) {
        value *= 1e38F;
    }
    tg::EagerForecaster forecaster(tg::load<Checkpoint>(folder("leading_gaps_blocks")).weights,
                                   tg::record_forecast<Uncapped, bucket>());
    const tg::Forecast result = forecaster.forecast(request.series());
    for (const float value : result.values()) {
        CHECK(std::isfinite(value));
    }
    CHECK(result.not_finite() > 0);  // beyond half of the range of f32, which is where marks begin
}

TEST_CASE("gaps in a known future are for models that take them, and as many as there are values") {
    const std::vector<float> values(40, 1.0F);
    const std::vector<float> future{1, 2, 3, 4};
    const std::vector<std::uint8_t> known{1, 0, 1};
    tg::Series series{.variates = 2,
                      .steps = 20,
                      .values = values,
                      .exogenous = 1,
                      .future_exogenous = future,
                      .future_observed = known};
    constexpr tg::Bucket with_known{.variates = 2, .context = 40, .horizon = 4, .exogenous = 1};
    tg::EagerForecaster forecaster(tg::load<Checkpoint>(folder("leading_gaps_blocks")).weights,
                                   tg::record_forecast<OnePass, with_known>());
    tg::test::check_error(tg::ErrorCode::invalid_argument, {"future_observed", "4", "found 3"},
                          [&] { (void)forecaster.forecast(series); });
}

TEST_CASE("a known future stands in the result where it is known, and a forecast in its gaps, in every block") {
    Request request;
    const std::vector<float> future(40, 5.5F);
    std::vector<std::uint8_t> known(40, 1);
    known[2] = known[3] = known[20] = known[39] = 0;
    tg::Series series = request.series();
    series.exogenous = 1;
    series.future_exogenous = future;
    series.future_observed = known;
    constexpr tg::Bucket with_known{.variates = 2, .context = 40, .horizon = 40, .exogenous = 1};
    const auto check = [&]<class Model>() {
        tg::EagerForecaster forecaster(tg::load<Checkpoint>(folder("leading_gaps_blocks")).weights,
                                       tg::record_forecast<Model, with_known>());
        const tg::Forecast result = forecaster.forecast(series);
        CHECK(result.is_finite());
        for (std::size_t step = 0; step < 40; ++step) {
            CAPTURE(step);
            const auto quantiles = result.values().subspan((40 + step) * 9, 9);
            CHECK((quantiles.front() == 5.5F && quantiles.back() == 5.5F) == (known[step] != 0));
            // A gap in the future counts for nothing: untrained quantiles spread around the level of the history.
            CHECK((quantiles.front() < quantiles.back()) == (known[step] == 0));
        }
    };
    check.template operator()<OnePass>();
    check.template operator()<Blocks>();
}

TEST_CASE("groups by step are for models that look at missing values") {
    Request request;
    request.groups.assign(80, 0);
    tg::EagerForecaster takes(tg::load<Checkpoint>(folder("leading_gaps_blocks")).weights,
                              tg::record_forecast<OnePass, bucket>());
    CHECK(takes.forecast(request.series()).is_finite());
    tg::EagerForecaster refuses(tg::load<Checkpoint>(folder("leading_gaps_blocks")).weights,
                                tg::record_forecast<AllObserved, bucket>());
    tg::test::check_error(tg::ErrorCode::invalid_argument, {"one group id for each variate"},
                          [&] { (void)refuses.forecast(request.series()); });
}
