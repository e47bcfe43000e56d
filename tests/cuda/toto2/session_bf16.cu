// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <totograph/cuda.hpp>
#include <totograph/models/toto2/session.hpp>

#include "cuda/device_test.hpp"
#include "models/toto2/session_cases.hpp"

// In bf16, caches included, a session is compared with one that begins with the same steps: both have the same rounded
// weights, but round activations after other sums. 2e-2 is the bound that tests/cuda/toto2/cuda_cases.hpp has for bf16.

namespace {

using namespace session_cases;

template <class AnyModel, tg::Bucket any_bucket>
using Bf16Session =
    tg::toto2::Session<AnyModel, any_bucket, tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::bf16}>;

}  // namespace

TEST_CASE("a session in bf16") {
    using Session = Bf16Session<Model, bucket>;
    Session session(weights());
    Session whole(weights());
    const auto expected = [&](const tg::Series& series, Index horizon) {
        whole.start(series);
        return device_test::values_of(whole.forecast({.horizon = horizon}));
    };
    Request all = made_up::waves(2, 3, 64);
    grow(session, all, {.patch = 8, .start = 16, .groups = {0, 1, 0, 4, 4, 4}}, 2e-2, expected);
    make_gaps(all);
    grow(session, all, {.patch = 8, .start = 24}, 2e-2, expected);
    CHECK(session.recomputations() == 0);
}
