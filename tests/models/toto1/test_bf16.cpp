// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>

#include "models/toto1/modes.hpp"
#include "models/toto1/weights.hpp"

// Weights stored as bf16.

using namespace modes;
using tg::ForecasterOptions;

namespace {

/// With these passes off, a stored weight is a tensor of the checkpoint rather than computed from several.
constexpr tg::Passes as_stored{.fold_scales = false, .compose_linears = false};
constexpr ForecasterOptions f32{.passes = as_stored};
constexpr ForecasterOptions bf16{.weights = tg::DType::bf16, .passes = as_stored};

/// The checkpoint with the matrices, which are what bf16 storage is for, rounded to bf16.
tg::ModelWeights<Model> rounded() {
    return fixture::changed_weights(weights(), [](const std::string&, const tg::Shape& shape, std::span<float> values) {
        if (shape.rank == 2) {
            for (float& value : values) {
                value = static_cast<float>(static_cast<tg::BFloat16>(value));
            }
        }
    });
}

}  // namespace

TEST_CASE("bf16 is how weights are stored, not how they are computed with") {
    const auto from_rounded = rounded();
    // The same numbers in the same order: no bit differs.
    CHECK(forecast<mean_bucket, bf16>() == forecast<mean_bucket, f32>(mean_bucket.horizon, from_rounded));
    CHECK(forecast<sampled_bucket, bf16>() == forecast<sampled_bucket, f32>(sampled_bucket.horizon, from_rounded));
}

TEST_CASE("bf16 weights come close to f32 weights") {
    // A bf16 has 8 bits, so a weight is off by up to 1 part in 512, each in another direction.
    const auto expected = forecast_with_all<mean_bucket>();
    const auto found = forecast<mean_bucket, ForecasterOptions{.weights = tg::DType::bf16}>();
    fixture::check_close("mean", found, expected, 1.0 / 256);
    CHECK(fixture::relative_error(found, expected) > 1e-5);
}
