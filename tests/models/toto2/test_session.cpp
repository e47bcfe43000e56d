// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/totograph.hpp>

#include "models/toto1/series.hpp"
#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"
#include "models/toto2/session_cases.hpp"
#include "support/count_allocations.hpp"

// A session forecasts what a forecaster of the same steps does, which reads the whole window each time. Both round in
// another order: rows of a GEMM are split otherwise, attention sums in other blocks, running sums of f64 are continued,
// and xPos has another centre. That is a few hundred roundings of f32, of the largest value of a variate.

namespace {

using namespace made_up;
using namespace session_cases;
using tg::toto2::Pending;
using tg::toto2::Recomputation;
constexpr double rounding = 1e-5;

using Session = tg::toto2::Session<Model, bucket>;

Session make_session() {
    return Session(weights(), {.threads = 1});
}

/// A forecaster that reads the whole window.
tg::EagerForecaster& whole() {
    static tg::EagerForecaster forecaster(weights().weights, tg::record_forecast<Model, bucket>());
    return forecaster;
}

void check_same(const tg::Forecast& found, const tg::Forecast& expected, const std::string& name) {
    CHECK(found.horizon() == expected.horizon());
    CHECK(found.context() == expected.context());
    fixture::check_rows(name, {found.values().begin(), found.values().end()},
                        {expected.values().begin(), expected.values().end()},
                        static_cast<std::size_t>(expected.horizon()) * expected.levels().size(), rounding, rounding);
}

/// As `session_cases::grow`, beside a forecaster.
template <class AnySession>
void grow(AnySession& session, tg::EagerForecaster& forecaster, const Request& all, const Growth& growth) {
    session_cases::grow(session, all, growth, rounding, [&](const tg::Series& series, Index horizon) {
        const tg::Forecast forecast = forecaster.forecast(series, {.horizon = horizon});
        return std::vector<float>(forecast.values().begin(), forecast.values().end());
    });
}

}  // namespace

TEST_CASE("a session that grows by a patch forecasts as one that reads everything") {
    Session session = make_session();
    const std::vector<std::int32_t> groups{0, 1, 0, 4, 4, 4};
    for (const bool has_gaps : {false, true}) {
        CAPTURE(has_gaps);
        Request all = waves(2, 3, 64);
        if (has_gaps) {
            make_gaps(all);
            // A patch of one variate without any observation, and one that ends with a gap.
            std::fill_n(all.observed.begin() + 64 + 24, 8, std::uint8_t{0});
            std::fill_n(all.observed.begin() + 2 * 64 + 43, 5, std::uint8_t{0});
        }
        grow(session, whole(), all, {.patch = 8, .start = 16, .groups = groups});
        grow(session, whole(), all, {.patch = 8, .start = 8});
    }
    // With gaps, the first patch has fewer observations than decide a scale, in both runs.
    CHECK(session.recomputations(Recomputation::few_observations) == 2);
    CHECK(session.recomputations() == 2);
}

TEST_CASE("a start whose first patch is short") {
    Session session = make_session();
    // The first patch has fewer observations than decide a scale: it is not stable as long as that is so.
    grow(session, whole(), waves(1, 2, 61), {.patch = 8, .start = 5});
    CHECK(session.recomputations() == session.recomputations(Recomputation::few_observations));
    CHECK(session.recomputations() == 1);
}

TEST_CASE("a smaller request than the bucket, and a shorter horizon") {
    Session session = make_session();
    grow(session, whole(), waves(1, 1, 56), {.patch = 8, .start = 24, .horizon = 3});
    CHECK(session.recomputations() == 0);
}

TEST_CASE("a window costs what its own patches do, and not those that there is room for") {
    Session session = make_session();
    const Request all = waves(1, 1, 24);
    session.start(series_of(all));
    // A shorter horizon first: more steps of the same forecast may be asked for.
    check_same(session.forecast({.horizon = 3}), whole().forecast(series_of(all), {.horizon = 3}), "3 steps");
    check_same(session.forecast(), whole().forecast(series_of(all)), "20 steps");
    // Three patches and three to forecast: keys behind those were never written.
    const auto keys = session.read_state<float>(tg::toto2::states::context.keys, 0);
    constexpr std::size_t tokens = 10;
    const std::size_t width = keys.size() / (6 * tokens);
    CHECK(std::any_of(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(3 * width),
                      [](float key) { return key != 0; }));
    CHECK(std::all_of(keys.begin() + static_cast<std::ptrdiff_t>(6 * width),
                      keys.begin() + static_cast<std::ptrdiff_t>(tokens * width), [](float key) { return key == 0; }));
}

TEST_CASE("steps that do not fill a patch") {
    Session session = make_session();
    const Request all = waves(1, 2, 30);
    session.start(series_of(between(all, 0, 24)));
    const auto before = session.forecast().keep();
    session.append(series_of(between(all, 24, 30)));
    CHECK(session.pending() == 6);
    // Left out, the forecast is the one before.
    CHECK(different_bits(before.view(), session.forecast({.pending = Pending::leave_out})) == 0);
    CHECK(session.recomputations() == 0);
    const auto found = session.forecast();
    check_same(found, whole().forecast(series_of(all)), "with pending steps");
    CHECK(session.pending() == 0);
    CHECK(session.recomputations(Recomputation::pending) == 1);
}

TEST_CASE("steps one by one, from nothing on") {
    Session session = make_session();
    const Request all = waves(2, 2, 24);
    CHECK_THROWS_WITH_AS((void)session.forecast(), doctest::Contains("no whole patch of 8 steps yet"), tg::Error);
    for (Index step = 0; step < 24; ++step) {
        session.append(series_of(between(all, step, step + 1)));
    }
    check_same(session.forecast(), whole().forecast(series_of(all)), "24 steps");
    CHECK(session.recomputations() == 0);
    CHECK(different_bits(session.forecast().keep(), session.forecast()) == 0);
}

TEST_CASE("at its capacity a session drops the oldest patches and computes the rest again") {
    Session session(weights(), {.threads = 1}, {.kept_patches = 5});
    Request all = waves(1, 3, 8 * 13);
    make_gaps(all);
    session.start(series_of(between(all, 0, 56)));
    std::vector<Index> contexts;
    for (Index steps = 56; steps <= all.steps; steps += 8) {
        if (steps > 56) {
            session.append(series_of(between(all, steps - 8, steps)));
        }
        const auto found = session.forecast();
        contexts.push_back(found.context());
        check_same(found, whole().forecast(series_of(between(all, steps - found.context(), steps))), "grown");
    }
    CHECK(contexts == std::vector<Index>{56, 64, 48, 56, 64, 48, 56});
    CHECK(session.recomputations(Recomputation::capacity) == 2);
    CHECK(session.recomputations() == 2);
}

TEST_CASE("many patches at once are cheaper as a whole") {
    Session session = make_session();
    const Request all = waves(1, 1, 64);
    session.start(series_of(between(all, 0, 8)));
    (void)session.forecast();
    session.append(series_of(between(all, 8, 64)));
    check_same(session.forecast(), whole().forecast(series_of(all)), "seven patches");
    CHECK(session.recomputations(Recomputation::many_patches) == 1);
    session.start(series_of(between(all, 0, 48)));
    (void)session.forecast();
    session.append(series_of(between(all, 48, 64)));
    check_same(session.forecast(), whole().forecast(series_of(all)), "two patches");
    CHECK(session.recomputations() == 1);
}

TEST_CASE("observations that decide a scale late") {
    Session session = make_session();
    Request all = waves(1, 2, 56);
    all.observed.assign(all.values.size(), 1);
    // The second variate has three observations in its first patches, and nothing else for a while.
    std::fill_n(all.observed.begin() + 56, 36, std::uint8_t{0});
    all.observed[56 + 3] = all.observed[56 + 4] = all.observed[56 + 9] = 1;
    grow(session, whole(), all, {.patch = 8, .start = 16});
    CHECK(session.recomputations() == session.recomputations(Recomputation::few_observations));
    // Patches end at steps 16, 24, 32 and 40 with 3, 3, 3 and 7 observations, and at 8 with 2: 8 decide the scale.
    CHECK(session.recomputations() == 5);
}

TEST_CASE("observations that decide a scale come with several patches at once") {
    Session session = make_session();
    Request all = waves(1, 2, 64);
    all.observed.assign(all.values.size(), 1);
    // The second variate has three observations, at the end of the start, and none in the first half of the next patch.
    std::fill_n(all.observed.begin() + 64, 45, std::uint8_t{0});
    std::fill_n(all.observed.begin() + 64 + 48, 4, std::uint8_t{0});
    session.start(series_of(between(all, 0, 48)));
    (void)session.forecast();
    session.append(series_of(between(all, 48, 64)));
    check_same(session.forecast(), whole().forecast(series_of(all)), "two patches at once");
    CHECK(session.recomputations(Recomputation::few_observations) == 1);
}

TEST_CASE("a variate that was observed only in what the window loses") {
    Session session = make_session();
    Request all = waves(1, 2, 64 + 3);
    all.observed.assign(all.values.size(), 1);
    std::fill_n(all.observed.begin() + 67 + 2, 65, std::uint8_t{0});
    session.append(series_of(between(all, 0, 64)));
    session.append(series_of(between(all, 64, 67)));
    CHECK_THROWS_WITH_AS((void)session.forecast(), doctest::Contains("has no observed value"), tg::Error);
}

TEST_CASE("other architectures and ways to forecast") {
    const auto check = [](auto model, const std::string& name) {
        using Case = decltype(model);
        constexpr tg::Bucket small{
            .variates = 3, .context = 6 * Case::config.patch_size, .horizon = Case::config.patch_size + 3};
        CAPTURE(name);
        const auto loaded = tg::load<Case>(toto2_fixture::folder(name));
        tg::toto2::Session<Case, small> session(loaded, {.threads = 1});
        tg::EagerForecaster forecaster(loaded.weights, tg::record_forecast<Case, small>());
        Request all = waves(1, 3, small.context);
        make_gaps(all);
        std::fill_n(all.observed.begin() + small.context + 2 * Case::config.patch_size, Case::config.patch_size,
                    std::uint8_t{0});
        grow(session, forecaster, all,
             {.patch = Case::config.patch_size,
              .start = 2 * Case::config.patch_size,
              .groups = {0, 0, 7},
              .horizon = small.horizon});
        CHECK(session.recomputations() == 0);
    };
    // Variate layers first and in each group, shared heads, normalized queries; no mask of missing values, no cap.
    check(toto2_cases::uneven_heads{}, "uneven_heads");
}

TEST_CASE("a session allocates nothing") {
    Session session = make_session();
    Request all = waves(2, 3, 8 * 12);
    make_gaps(all);
    const Request start = between(all, 0, 40);
    const Request patch = between(all, 40, 48);
    const Request rest = between(all, 48, 8 * 12);
    const std::size_t before = allocations;
    session.start(series_of(start));
    (void)session.forecast();
    session.append(series_of(patch));
    (void)session.forecast({.horizon = 5});
    session.append(series_of(rest));
    (void)session.forecast();
    CHECK(allocations == before);
    CHECK(session.recomputations(Recomputation::capacity) == 1);
}

TEST_CASE("what a session refuses") {
    Session session = make_session();
    const Request all = waves(1, 2, 16);
    session.start(series_of(all));
    CHECK_THROWS_WITH_AS(session.append(series_of(waves(1, 3, 8))), doctest::Contains("1 series of 2 variates"),
                         tg::Error);
    CHECK_THROWS_WITH_AS(session.append(series_of(waves(1, 2, 8), {0, 1})), doctest::Contains("group ids"), tg::Error);
    CHECK_THROWS_WITH_AS((void)session.forecast({.horizon = 21}), doctest::Contains("1 to 20 steps"), tg::Error);
    CHECK_THROWS_WITH_AS(session.start(series_of(waves(3, 1, 8))), doctest::Contains("cannot take 3 series"),
                         tg::Error);
    CHECK_THROWS_WITH_AS(Session(weights(), {.threads = 1}, {.kept_patches = 8}), doctest::Contains("kept_patches"),
                         tg::Error);
    CHECK_THROWS_WITH_AS(session.append(series_of(waves(1, 2, 0))),
                         "A session was given no step; give it at least one.", tg::Error);
    Request unknown = waves(1, 2, 8);
    unknown.values[3] = std::nanf("");
    CHECK_THROWS_WITH_AS(session.append(series_of(unknown)), doctest::Contains("variate 0, step 3"), tg::Error);
    // Nothing of that has changed the context.
    check_same(session.forecast(), whole().forecast(series_of(all)), "unchanged");
    unknown.observed.assign(16, 0);
    session.start(series_of(unknown));
    CHECK_THROWS_WITH_AS((void)session.forecast(), doctest::Contains("no observed value"), tg::Error);
    Session other = std::move(session);
    for (const auto& use : {+[](Session& moved) { (void)moved.forecast(); },
                            +[](Session& moved) { moved.start(series_of(waves(1, 2, 8))); },
                            +[](Session& moved) { moved.append(series_of(waves(1, 2, 8))); }}) {
        CHECK_THROWS_WITH_AS(use(session), doctest::Contains("had been moved from"), tg::Error);
    }
    other.start(series_of(all));
    check_same(other.forecast(), whole().forecast(series_of(all)), "moved");
}
