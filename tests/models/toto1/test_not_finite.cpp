// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/model_weights.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/family.hpp>

#include "io/support.hpp"
#include "models/toto1/series.hpp"
#include "models/toto1/weights.hpp"

// Forecasts that are no finite numbers: of weights that are not, of head parameters that overflow, and of series that
// are too large for f32. The eager forecaster is quick to compile, and has the programs and the end of all others.

namespace tg = totograph;
using made_up::Request;
using made_up::waves;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Small {
    static constexpr tg::toto1::Toto1Config config{.patch_size = 8,
                                                   .embed_dim = 16,
                                                   .num_layers = 2,
                                                   .num_heads = 2,
                                                   .mlp_hidden_dim = 24,
                                                   .spacewise_every_n_layers = 2,
                                                   .k_components = 3};
};
constexpr tg::Bucket sampled{.batch = 2, .variates = 2, .context = 32, .horizon = 24, .samples = 5};
constexpr tg::Bucket mean{.batch = 2, .variates = 2, .context = 32, .horizon = 24, .samples = 0};

using Weights = tg::ModelWeights<Small>;

template <tg::Bucket bucket>
tg::OwnedForecast forecast(const Weights& weights, const Request& request, const tg::ForecastOptions& options = {}) {
    tg::EagerForecaster forecaster(weights.weights, tg::record_forecast<Small, bucket>());
    return forecaster.forecast(request.series(), options).keep();
}

/// Weights of which one projection of the head overflows f32, wherever its weights are not 0.
Weights overflowing(const std::string& projection) {
    return fixture::changed_weights(
        tg::untrained<Small>(), [=](const std::string& tensor, const tg::Shape&, std::span<float> values) {
            const float factor = tensor == "model.output_distribution." + projection + ".weight" ? 1e38F
                                 : tensor.starts_with("model.unembed")                           ? 1e4F
                                                                                                 : 1.0F;
            for (float& value : values) {
                value *= factor;
            }
        });
}

std::size_t zeros(std::span<const float> values) {
    std::size_t count = 0;
    for (const float value : values) {
        count += std::bit_cast<std::uint32_t>(value) == 0 ? 1 : 0;  // not -0, which is a mark of the programs'
    }
    return count;
}

}  // namespace

TEST_CASE("a forecast of finite numbers says so") {
    const auto found = forecast<sampled>(tg::untrained<Small>(), waves(2, 2, 20), {.horizon = 20});
    CHECK(found.is_finite());
    CHECK(found.not_finite() == 0);
    CHECK(forecast<mean>(tg::untrained<Small>(), waves(1, 1, 32)).is_finite());
}

TEST_CASE("weights that are not finite are an error where they are prepared") {
    const auto broken = fixture::changed_weights(
        tg::untrained<Small>(), [](const std::string& tensor, const tg::Shape&, std::span<float> values) {
            if (tensor == "model.output_distribution.df.weight") {
                values[19] = infinity;
            }
        });
    tg::test::check_error(tg::ErrorCode::tensor_mismatch,
                          {"'model.output_distribution.df.weight'", "holds infinity at [1, 3]", "finite"},
                          [&] { (void)forecast<sampled>(broken, waves(1, 1, 8)); });
}

TEST_CASE("values of head parameters that overflow are counted, and stand as 0") {
    const Request request = waves(2, 2, 20);
    const tg::ForecastOptions options{.horizon = 20, .samples = 3};
    constexpr tg::Index all = 2 * 2 * 20 * 3;
    for (const char* projection : {"loc_proj", "scale_proj", "df", "mixture_weights"}) {
        CAPTURE(projection);
        const auto found = forecast<sampled>(overflowing(projection), request, options);
        CHECK(!found.is_finite());
        CHECK(found.not_finite() == static_cast<tg::Index>(zeros(found.samples())));
        // A projection to -infinity is a scale, or degrees of freedom, of the smallest kind, which are finite.
        const std::string_view name = projection;
        CHECK((found.not_finite() == all || name == "scale_proj" || name == "df"));
    }
    for (const char* projection : {"loc_proj", "mixture_weights"}) {
        CAPTURE(projection);
        const auto found = forecast<mean>(overflowing(projection), request, {.horizon = 20});
        CHECK(found.not_finite() == 2 * 2 * 20);
        CHECK(zeros(found.mean()) == 2 * 2 * 20);
    }
}

TEST_CASE("a series that is too large for f32 is counted, and another one of its batch is left as it was") {
    Request both = waves(2, 2, 20);
    Request other = both;
    other.batch = 1;
    other.values.resize(2 * 20);
    std::fill(both.values.begin() + 2 * 20, both.values.end(), 3.4e38F);
    const auto weights = tg::untrained<Small>();
    const auto found = forecast<sampled>(weights, both, {.seed = 3});
    CHECK(found.not_finite() == 2 * 24 * 5);
    const auto alone = forecast<sampled>(weights, other, {.seed = 3});
    CHECK(alone.is_finite());
    const std::size_t half = found.samples().size() / 2;
    CHECK(std::equal(alone.samples().begin(), alone.samples().end(), found.samples().begin()));
    CHECK(zeros(found.samples().subspan(half)) == half);
}
