// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include <totograph/cuda.hpp>
#include <totograph/models/toto2/session.hpp>

#include "cuda/device_test.hpp"
#include "models/toto2/session_cases.hpp"

using namespace session_cases;

// Variate layers first and in each group, shared heads, normalized queries; no mask of missing values, no cap.
TEST_CASE("a session of another architecture") {
    using Case = toto2_cases::uneven_heads;
    constexpr Index patch = Case::config.patch_size;
    constexpr tg::Bucket small{.variates = 3, .context = 6 * patch, .horizon = patch + 3};
    using Session = tg::toto2::Session<Case, small, tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::f32}>;
    const auto loaded = tg::load<Case>(toto2_fixture::folder("uneven_heads"));
    Session session(loaded);
    Session whole(loaded);
    Request all = made_up::waves(1, 3, small.context);
    make_gaps(all);
    std::fill_n(all.observed.begin() + small.context + 2 * patch, patch, std::uint8_t{0});
    // As test_toto2_session.cu, which tells of the bound; here beside a session that begins with the same steps.
    grow(session, all, {.patch = patch, .start = 2 * patch, .groups = {0, 0, 7}, .horizon = small.horizon}, 1e-5,
         [&](const tg::Series& series, Index horizon) {
             whole.start(series);
             return device_test::values_of(whole.forecast({.horizon = horizon}));
         });
    CHECK(session.recomputations() == 0);
}
