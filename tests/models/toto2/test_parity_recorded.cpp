// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"
#include "models/toto2/intermediates.hpp"
#include "support/recorded_run.hpp"

// Every case, node by node as it is recorded: forecasts, and every tensor on the way there.

namespace {

using namespace toto2_fixture;

template <class Case>
void check(const std::string& name) {
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    tg::EagerForecaster forecaster(tg::load<Case>(folder(name)).weights, tg::record_forecast<Case, Case::bucket>());
    const tg::Forecast forecast = forecaster.forecast(inputs.series);
    check_quantiles(tensors, {forecast.values().begin(), forecast.values().end()}, Case::bucket.variates);
}

/// All rows of all layers, on the reference's scale.
constexpr tg::toto2::Rewrites tapped{.plain_residuals = false, .read_rows_only = false, .keep_intermediates = true};

template <class Case>
void check_intermediates(const std::string& name) {
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    const auto recorded = tg::record_forecast<tg::toto2::WithRewrites<Case, tapped>, Case::bucket>();
    const std::size_t programs = recorded.graphs.size();
    tg::test::RecordedRun run(tg::load<Case>(folder(name)).weights, recorded);
    run.fill(inputs.series, Case::bucket);
    run.run(0);
    const auto state_of = [&](const std::string& state, int layer) { return run.floats(state, layer); };
    // Series of very different levels: the reference's own f32 is further off, too.
    const double bound = name == "levels" ? 5e-5 : 1e-5;
    const bool has_fallback = Case::inference.scaler_fallback_min_obs > 0;
    check_first_pass(tensors, Case::config, inputs.series, has_fallback, bound, state_of);
    if (programs > 1) {
        run.run(1);
        check_second_pass(tensors, bound, state_of);
    }
}

}  // namespace

TEST_CASE("published_shape: the recorded programs agree with the reference") {
    check<toto2_cases::published_shape>("published_shape");
    check_intermediates<toto2_cases::published_shape>("published_shape");
}
TEST_CASE("known_gaps_blocks: the recorded programs agree with the reference") {
    check<toto2_cases::known_gaps_blocks>("known_gaps_blocks");
    check_intermediates<toto2_cases::known_gaps_blocks>("known_gaps_blocks");
}
TEST_CASE("leading_gaps_blocks: the recorded programs agree with the reference") {
    check<toto2_cases::leading_gaps_blocks>("leading_gaps_blocks");
    check_intermediates<toto2_cases::leading_gaps_blocks>("leading_gaps_blocks");
}
TEST_CASE("few_observations: the recorded programs agree with the reference") {
    check<toto2_cases::few_observations>("few_observations");
    check_intermediates<toto2_cases::few_observations>("few_observations");
}
TEST_CASE("flag_off_with_gaps: the recorded programs agree with the reference") {
    check<toto2_cases::flag_off_with_gaps>("flag_off_with_gaps");
    check_intermediates<toto2_cases::flag_off_with_gaps>("flag_off_with_gaps");
}
TEST_CASE("empty_variate_capped: the recorded programs agree with the reference") {
    check<toto2_cases::empty_variate_capped>("empty_variate_capped");
    check_intermediates<toto2_cases::empty_variate_capped>("empty_variate_capped");
}
TEST_CASE("long_positions: the recorded programs agree with the reference") {
    check<toto2_cases::long_positions>("long_positions");
    check_intermediates<toto2_cases::long_positions>("long_positions");
}
TEST_CASE("one_patch: the recorded programs agree with the reference") {
    check<toto2_cases::one_patch>("one_patch");
    check_intermediates<toto2_cases::one_patch>("one_patch");
}
TEST_CASE("levels: the recorded programs agree with the reference") {
    check<toto2_cases::levels>("levels");
    check_intermediates<toto2_cases::levels>("levels");
}
TEST_CASE("uneven_heads: the recorded programs agree with the reference") {
    check<toto2_cases::uneven_heads>("uneven_heads");
    check_intermediates<toto2_cases::uneven_heads>("uneven_heads");
}
TEST_CASE("plain_rope: the recorded programs agree with the reference") {
    check<toto2_cases::plain_rope>("plain_rope");
    check_intermediates<toto2_cases::plain_rope>("plain_rope");
}
TEST_CASE("normed_grouped_query: the recorded programs agree with the reference") {
    check<toto2_cases::normed_grouped_query>("normed_grouped_query");
    check_intermediates<toto2_cases::normed_grouped_query>("normed_grouped_query");
}
TEST_CASE("variate_first_groups_of_two: the recorded programs agree with the reference") {
    check<toto2_cases::variate_first_groups_of_two>("variate_first_groups_of_two");
    check_intermediates<toto2_cases::variate_first_groups_of_two>("variate_first_groups_of_two");
}
