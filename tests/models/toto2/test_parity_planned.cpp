// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <totograph/forecast/weights/model_weights.hpp>

#include "models/toto1/planned_forecast.hpp"
#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

// Every case by its plan: what the fused executor compiles.

namespace {

using namespace toto2_fixture;

template <class Case>
void check(const std::string& name) {
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    const auto weights = tg::load<Case>(folder(name)).weights;
    tg::test::PlannedForecaster forecaster(tg::record_forecast<Case, Case::bucket>(), weights);
    check_quantiles(tensors, forecaster.forecast(inputs.series), Case::bucket.variates);
}

struct WithoutBiases {
    static constexpr tg::toto2::Toto2Config config{.patch_size = 8,
                                                   .d_model = 32,
                                                   .d_ff = 64,
                                                   .num_heads = 5,
                                                   .num_layers = 4,
                                                   .layer_group_size = 2,
                                                   .attn_bias = false,
                                                   .qk_dim = 20,
                                                   .v_dim = 17};
};

}  // namespace

TEST_CASE("published_shape: what is planned agrees with the reference") {
    check<toto2_cases::published_shape>("published_shape");
}
TEST_CASE("known_gaps_blocks: what is planned agrees with the reference") {
    check<toto2_cases::known_gaps_blocks>("known_gaps_blocks");
}
TEST_CASE("leading_gaps_blocks: what is planned agrees with the reference") {
    check<toto2_cases::leading_gaps_blocks>("leading_gaps_blocks");
}
TEST_CASE("few_observations: what is planned agrees with the reference") {
    check<toto2_cases::few_observations>("few_observations");
}
TEST_CASE("flag_off_with_gaps: what is planned agrees with the reference") {
    check<toto2_cases::flag_off_with_gaps>("flag_off_with_gaps");
}
TEST_CASE("empty_variate_capped: what is planned agrees with the reference") {
    check<toto2_cases::empty_variate_capped>("empty_variate_capped");
}
TEST_CASE("long_positions: what is planned agrees with the reference") {
    check<toto2_cases::long_positions>("long_positions");
}
TEST_CASE("one_patch: what is planned agrees with the reference") {
    check<toto2_cases::one_patch>("one_patch");
}
TEST_CASE("levels: what is planned agrees with the reference") {
    check<toto2_cases::levels>("levels");
}
TEST_CASE("uneven_heads: what is planned agrees with the reference") {
    check<toto2_cases::uneven_heads>("uneven_heads");
}
TEST_CASE("plain_rope: what is planned agrees with the reference") {
    check<toto2_cases::plain_rope>("plain_rope");
}
TEST_CASE("normed_grouped_query: what is planned agrees with the reference") {
    check<toto2_cases::normed_grouped_query>("normed_grouped_query");
}
TEST_CASE("variate_first_groups_of_two: what is planned agrees with the reference") {
    check<toto2_cases::variate_first_groups_of_two>("variate_first_groups_of_two");
}

TEST_CASE("a lone variate of a model without biases has the bits that it has where its bucket has room for more") {
    // The factor of a row that a norm leaves comes before the values: attention stands between them and the output.
    constexpr tg::Bucket lone{.context = 24, .horizon = 16};
    constexpr tg::Bucket roomy{.variates = 3, .context = 24, .horizon = 16};
    const auto weights = tg::untrained<WithoutBiases>(3).weights;
    tg::test::PlannedForecaster exact(tg::record_forecast<WithoutBiases, lone>(), weights);
    tg::test::PlannedForecaster larger(tg::record_forecast<WithoutBiases, roomy>(), weights);
    const std::vector<std::int32_t> apart{0, 1, 2};
    for (const float frequency : {0.3F, 0.7F, 1.1F, 1.9F, 2.3F}) {
        std::vector<float> values;
        for (int i = 0; i < 3 * 24; ++i) {
            values.push_back(std::sin(frequency * static_cast<float>(i)));
        }
        const auto found = exact.forecast({.steps = 24, .values = std::span(values).first(24)});
        auto expected = larger.forecast({.variates = 3, .steps = 24, .values = values, .groups = apart});
        expected.resize(expected.size() / 3);
        CHECK(found == expected);
    }
}
