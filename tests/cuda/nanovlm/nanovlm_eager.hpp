// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/nanovlm/prompts.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"

// Draws of the CPU, for those of a device.

namespace nanovlm_fixture {

/// The prompts of the case `left_padded`, without their padding, and how tokens are drawn behind them.
struct LeftPadded {
    using Case = nanovlm_cases::left_padded;
    static constexpr tg::Bucket draws = nanovlm_cases::token_bucket(3, 13, 5, 4);

    tg::ModelWeights<Case> weights = load<Case>("left_padded");
    std::vector<std::int32_t> ids;
    std::vector<tg::nanovlm::Prompt> prompts;
    tg::nanovlm::GenerateOptions options{.end_token = {}, .seed = 5, .temperature = 2};

    LeftPadded() {
        const Tensors tensors("left_padded");
        const Prompts padded(tensors);
        ids = tensors.read<std::int32_t>("input_ids");
        for (std::size_t b = 0; b < 3; ++b) {
            const auto padding = static_cast<std::size_t>(padded.padding[b]);
            prompts.push_back({std::span<const std::int32_t>(ids).subspan(b * 13 + padding, 13 - padding)});
        }
    }
    LeftPadded(const LeftPadded&) = delete;
    LeftPadded& operator=(const LeftPadded&) = delete;
    ~LeftPadded() = default;
};

/// What the recorded nodes draw, `[prompts, samples, new_tokens]`.
std::vector<std::int32_t> eager_draws(const LeftPadded& given);

}  // namespace nanovlm_fixture
