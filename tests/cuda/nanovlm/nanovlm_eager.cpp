// SPDX-License-Identifier: Apache-2.0
#include "cuda/nanovlm/nanovlm_eager.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/models/nanovlm/family.hpp>

namespace nanovlm_fixture {

std::vector<std::int32_t> eager_draws(const LeftPadded& given) {
    using Case = LeftPadded::Case;
    tg::EagerForecaster eager(given.weights.weights, tg::record_forecast<Case, LeftPadded::draws>());
    const tg::nanovlm::PromptBatch batch(given.prompts, given.options);
    const tg::Forecast forecast = eager.forecast(batch.series(0), {.seed = given.options.seed});
    std::vector<std::int32_t> ids;
    for (std::size_t row = 0; row < 3 * 4; ++row) {
        for (std::size_t step = 0; step < 5; ++step) {  // values are [prompts, new_tokens, samples]
            ids.push_back(static_cast<std::int32_t>(forecast.values()[(row / 4 * 5 + step) * 4 + row % 4]));
        }
    }
    return ids;
}

}  // namespace nanovlm_fixture
