// SPDX-License-Identifier: Apache-2.0
#include "cuda/toto2/rounded_weights.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

namespace toto2_fixture {

namespace {

/// Tensors of another source, matrices rounded to the nearest of so many bits.
class RoundedTensors : public tg::TensorSource {
public:
    RoundedTensors(tg::Weights weights, int bits) : weights_(std::move(weights)), dropped_(24 - bits) {}

    void read(const std::string& name, const tg::Shape& shape, std::span<float> values) const override {
        weights_.source().read(name, shape, values);
        if (shape.rank < 2) {
            return;
        }
        for (float& value : values) {
            const auto bits = std::bit_cast<std::uint32_t>(value);
            const std::uint32_t half = (1U << (dropped_ - 1)) - 1 + (bits >> dropped_ & 1U);  // to even
            value = std::bit_cast<float>((bits + half) & ~((1U << dropped_) - 1));
        }
    }

private:
    tg::Weights weights_;
    int dropped_;
};

template <class Case>
std::vector<float> quantiles(const std::string& name, int bits) {
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    const tg::Weights rounded(std::make_shared<RoundedTensors>(tg::load<Case>(folder(name)).weights, bits));
    tg::EagerForecaster forecaster(rounded, tg::record_forecast<Case, Case::bucket>());
    const tg::Forecast forecast = forecaster.forecast(inputs.series);
    return {forecast.values().begin(), forecast.values().end()};
}

}  // namespace

std::vector<float> quantiles_of_rounded_weights(const std::string& name, int bits) {
    using namespace toto2_cases;
    using Compute = std::vector<float> (*)(const std::string&, int);
    static constexpr std::pair<const char*, Compute> cases[] = {
        {"published_shape", &quantiles<published_shape>},
        {"known_gaps_blocks", &quantiles<known_gaps_blocks>},
        {"leading_gaps_blocks", &quantiles<leading_gaps_blocks>},
        {"few_observations", &quantiles<few_observations>},
        {"flag_off_with_gaps", &quantiles<flag_off_with_gaps>},
        {"empty_variate_capped", &quantiles<empty_variate_capped>},
        {"long_positions", &quantiles<long_positions>},
        {"one_patch", &quantiles<one_patch>},
        {"levels", &quantiles<levels>},
        {"uneven_heads", &quantiles<uneven_heads>},
        {"plain_rope", &quantiles<plain_rope>},
        {"normed_grouped_query", &quantiles<normed_grouped_query>},
        {"variate_first_groups_of_two", &quantiles<variate_first_groups_of_two>},
    };
    for (const auto& [known, compute] : cases) {
        if (name == known) {
            return compute(name, bits);
        }
    }
    throw std::invalid_argument("'" + name + "' is no case of Toto 2.0's reference.");
}

}  // namespace toto2_fixture
