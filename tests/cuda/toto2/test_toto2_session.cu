// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include <totograph/cuda.hpp>
#include <totograph/models/toto2/session.hpp>

#include "cuda/device_test.hpp"
#include "cuda/toto2/session_whole.hpp"
#include "models/toto2/session_cases.hpp"

// Sessions on a device, in f32: what tests/models/toto2/test_session.cpp says of the CPU. What is expected comes from
// the eager executor, which reads the whole window each time. The bound is that of tests/cuda/toto2/cuda_cases.hpp: f32
// rounds as the reference's does, in another order.

namespace {

using namespace made_up;
using namespace session_cases;
using tg::cuda::Capture;
using tg::toto2::Pending;
using tg::toto2::Recomputation;
constexpr double rounding = 1e-5;

using Session = tg::toto2::Session<Model, bucket, tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::f32}>;

Session make_session(Capture capture = Capture::whole) {
    return Session(weights(), {.execution = {.capture = capture}});
}

void grow(Session& session, const Request& all, const Growth& growth) {
    session_cases::grow(session, all, growth, rounding, forecast_whole);
}

void check_same(const tg::Forecast& found, const Request& all, const char* name) {
    fixture::check_rows(name, {found.values().begin(), found.values().end()},
                        forecast_whole(series_of(all), found.horizon()),
                        static_cast<std::size_t>(found.horizon()) * found.levels().size(), rounding, rounding);
}

/// With gaps, of which one is a patch of a variate, and one ends a patch.
Request gappy() {
    Request all = waves(2, 3, 64);
    make_gaps(all);
    std::fill_n(all.observed.begin() + 64 + 24, 8, std::uint8_t{0});
    std::fill_n(all.observed.begin() + 2 * 64 + 43, 5, std::uint8_t{0});
    return all;
}

}  // namespace

TEST_CASE("a session that grows by a patch forecasts as one that reads everything") {
    Session session = make_session();
    // The whole window, a new patch, and the result.
    CHECK(session.captures() == 3);
    const std::vector<std::int32_t> groups{0, 1, 0, 4, 4, 4};
    for (const Request& all : {waves(2, 3, 64), gappy()}) {
        grow(session, all, {.patch = 8, .start = 16, .groups = groups});
        grow(session, all, {.patch = 8, .start = 8});
    }
    // With gaps, the first patch has fewer observations than decide a scale, in both runs.
    CHECK(session.recomputations(Recomputation::few_observations) == 2);
    CHECK(session.recomputations() == 2);
    CHECK(session.captures() == 3);
}

TEST_CASE("a smaller request than the bucket, a short first patch, a shorter horizon") {
    Session session = make_session();
    grow(session, waves(1, 1, 56), {.patch = 8, .start = 24, .horizon = 3});
    CHECK(session.recomputations() == 0);
    grow(session, waves(1, 2, 61), {.patch = 8, .start = 5});
    CHECK(session.recomputations() == session.recomputations(Recomputation::few_observations));
}

TEST_CASE("steps that do not fill a patch, another horizon of the same steps") {
    Session session = make_session();
    const Request all = waves(1, 2, 30);
    session.start(series_of(between(all, 0, 24)));
    const auto before = session.forecast().keep();
    session.append(series_of(between(all, 24, 30)));
    CHECK(different_bits(before.view(), session.forecast({.pending = Pending::leave_out})) == 0);
    check_same(session.forecast({.horizon = 5, .pending = Pending::leave_out}), between(all, 0, 24), "5 steps");
    CHECK(session.recomputations() == 0);
    check_same(session.forecast(), all, "with pending steps");
    CHECK(session.recomputations(Recomputation::pending) == 1);
}

TEST_CASE("two patches at once, and more than there is room for") {
    Session session(weights(), {}, {.kept_patches = 5});
    const Request all = waves(1, 3, 8 * 10);
    session.start(series_of(between(all, 0, 40)));
    (void)session.forecast();
    session.append(series_of(between(all, 40, 56)));
    check_same(session.forecast(), between(all, 0, 56), "two patches");
    CHECK(session.recomputations() == 0);
    session.append(series_of(between(all, 56, 80)));
    const auto found = session.forecast().keep();
    CHECK(session.recomputations(Recomputation::capacity) == 1);
    CHECK(found.context() == 56);
    check_same(found.view(), between(all, 80 - 56, 80), "the newest");
}

TEST_CASE("ways to capture change no bit") {
    const Request all = gappy();
    const auto run = [&](Capture capture) {
        Session session = make_session(capture);
        std::vector<float> values;
        session.start(series_of(between(all, 0, 40)));
        for (Index steps = 40; steps <= 64; steps += 8) {
            if (steps > 40) {
                session.append(series_of(between(all, steps - 8, steps)));
            }
            const auto found = device_test::values_of(session.forecast());
            values.insert(values.end(), found.begin(), found.end());
        }
        return values;
    };
    const std::vector<float> expected = run(Capture::none);
    for (const Capture capture : {Capture::whole, Capture::regional, Capture::device_loop}) {
        CAPTURE(static_cast<int>(capture));
        CHECK(device_test::is_same(run(capture), expected));
    }
}
