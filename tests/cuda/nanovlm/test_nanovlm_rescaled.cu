// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <totograph/models/nanovlm/generator.hpp>

#include "cuda/nanovlm/nanovlm_cuda.hpp"
#include "cuda/nanovlm/nanovlm_eager.hpp"

// In f32: positions that are rescaled; and the interface for ids and pixels, whose ids are the reference's.

using namespace nanovlm_cases;
using nanovlm_fixture::check_cuda;

TEST_CASE("rope_rescaled") {
    check_cuda<rope_rescaled>("rope_rescaled");
}

TEST_CASE("a generator on a device has the reference's ids, and draws those of the CPU") {
    using Case = left_padded;
    const auto expected = nanovlm_fixture::Tensors("left_padded").read<std::int32_t>("decoded_ids");
    const nanovlm_fixture::LeftPadded given;
    constexpr tg::cuda::ForecasterOptions f32{.precision = tg::cuda::Precision::f32};
    tg::nanovlm::Generator<Case, token_bucket(2, 16, 9), f32> greedy(given.weights);
    const auto likeliest = greedy.generate(given.prompts, {.new_tokens = 8, .end_token = {}});  // in two parts
    for (tg::Index b = 0; b < 3; ++b) {
        const auto found = likeliest.tokens(b);
        CHECK(std::vector(found.begin(), found.end()) ==
              std::vector(expected.begin() + b * 8, expected.begin() + b * 8 + 8));
    }

    // Logits differ by rounding alone: an id is another one where a number points between two, in one of 10^4 draws.
    tg::nanovlm::Generator<Case, nanovlm_fixture::LeftPadded::draws, f32> drawing(given.weights);
    const auto drawn = drawing.generate(given.prompts, given.options);
    std::vector<std::int32_t> found;
    for (tg::Index b = 0; b < 3; ++b) {
        for (tg::Index sample = 0; sample < 4; ++sample) {
            found.insert(found.end(), drawn.tokens(b, sample).begin(), drawn.tokens(b, sample).end());
        }
    }
    CHECK(found == nanovlm_fixture::eager_draws(given));
}
