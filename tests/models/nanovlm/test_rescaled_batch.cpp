// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/models/nanovlm/prompts.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"

// Prompts of different lengths where frequencies are divided: positions then count from the longest prompt's first
// token. The reference wrote no such case, so the formulas stand here, in double, token by token; on the case that it
// wrote, they give its ids.

namespace {

namespace tg = totograph;
using tg::Index;
using Case = nanovlm_cases::rope_rescaled;
using Ids = std::vector<std::int32_t>;
using Row = std::vector<double>;

constexpr tg::nanovlm::LanguageConfig config = Case::config.lm;
constexpr auto width = static_cast<std::size_t>(config.lm_hidden_dim);
static_assert(config.lm_n_heads == 1 && config.lm_n_kv_heads == 1 && config.lm_n_blocks == 2);

/// The language model of one sequence, with what it has cached.
class Formulas {
public:
    Formulas() : file_(nanovlm_fixture::folder("rope_rescaled") / "model.safetensors") {}

    /// The likeliest token behind this one.
    /// @param position  of the token, padding counted
    /// @param end       positions that there are in the call
    std::int32_t next(std::int32_t token, double position, double end) {
        const Row table = weight("decoder.token_embedding.weight");
        const auto first = table.begin() + token * config.lm_hidden_dim;
        Row x(first, first + config.lm_hidden_dim);
        for (std::size_t layer = 0; layer < 2; ++layer) {
            const std::string prefix = "decoder.blocks." + std::to_string(layer) + ".";
            add(x, product(prefix + "attn.out_proj.weight", attend(prefix, layer, x, position, end)));
            const Row normed = norm(x, prefix + "norm2.weight");
            Row gate = product(prefix + "mlp.gate_proj.weight", normed);
            const Row up = product(prefix + "mlp.up_proj.weight", normed);
            for (std::size_t i = 0; i < gate.size(); ++i) {
                gate[i] *= up[i] / (1 + std::exp(-gate[i]));
            }
            add(x, product(prefix + "mlp.down_proj.weight", gate));
        }
        const Row logits = product("decoder.head.weight", norm(x, "decoder.norm.weight"));
        return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    }

private:
    [[nodiscard]] Row weight(const std::string& name) const {
        const std::vector<float> values = file_[name];
        return {values.begin(), values.end()};
    }
    [[nodiscard]] Row product(const std::string& name, const Row& x) const {
        const Row matrix = weight(name);
        Row result(matrix.size() / x.size(), 0.0);
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            result[i / x.size()] += matrix[i] * x[i % x.size()];
        }
        return result;
    }
    static void add(Row& x, const Row& y) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] += y[i];
        }
    }
    [[nodiscard]] Row norm(const Row& x, const std::string& name) const {
        double squares = 0;
        for (const double value : x) {
            squares += value * value;
        }
        Row result = weight(name);
        for (std::size_t i = 0; i < x.size(); ++i) {
            result[i] *= x[i] / std::sqrt(squares / static_cast<double>(width) + config.lm_rms_eps);
        }
        return result;
    }
    static Row rotate(const Row& x, double position, double end) {
        const double divisor = std::max(1.0, end / static_cast<double>(config.lm_max_position_embeddings));
        Row result(width);
        for (std::size_t j = 0; j < width / 2; ++j) {
            const double power = -2.0 * static_cast<double>(j) / static_cast<double>(width);
            const double angle = position * std::pow(static_cast<double>(config.lm_re_base), power) / divisor;
            const double cosine = std::cos(angle) * config.lm_attn_scaling;
            const double sine = std::sin(angle) * config.lm_attn_scaling;
            result[j] = x[j] * cosine - x[j + width / 2] * sine;
            result[j + width / 2] = x[j + width / 2] * cosine + x[j] * sine;
        }
        return result;
    }
    Row attend(const std::string& prefix, std::size_t layer, const Row& x, double position, double end) {
        const Row normed = norm(x, prefix + "norm1.weight");
        const Row query = rotate(product(prefix + "attn.q_proj.weight", normed), position, end);
        keys_[layer].push_back(rotate(product(prefix + "attn.k_proj.weight", normed), position, end));
        values_[layer].push_back(product(prefix + "attn.v_proj.weight", normed));
        Row result(width, 0.0);
        double total = 0;
        for (std::size_t key = 0; key < keys_[layer].size(); ++key) {
            double score = 0;
            for (std::size_t i = 0; i < width; ++i) {
                score += query[i] * keys_[layer][key][i];
            }
            const double share = std::exp(score / std::sqrt(static_cast<double>(width)));
            total += share;
            for (std::size_t i = 0; i < width; ++i) {
                result[i] += share * values_[layer][key][i];
            }
        }
        for (double& value : result) {
            value /= total;
        }
        return result;
    }

    tg::test::StoredTensors file_;
    std::vector<Row> keys_[2];
    std::vector<Row> values_[2];
};

/// The likeliest tokens behind a prompt that is padded to `longest`.
Ids by_formulas(const Ids& prompt, std::size_t longest, std::size_t new_tokens) {
    Formulas model;
    Ids chosen;
    std::size_t position = longest - prompt.size();
    std::int32_t newest = 0;
    for (const std::int32_t token : prompt) {
        newest = model.next(token, static_cast<double>(position++), static_cast<double>(longest));
    }
    while (chosen.size() < new_tokens) {
        chosen.push_back(newest);
        newest = model.next(newest, static_cast<double>(position), static_cast<double>(position + 1));
        ++position;
    }
    return chosen;
}

template <tg::Bucket bucket>
void check(const std::vector<Ids>& prompts, std::size_t longest) {
    tg::EagerForecaster forecaster(nanovlm_fixture::load<Case>("rope_rescaled").weights,
                                   tg::record_forecast<Case, bucket>());
    std::vector<tg::nanovlm::Prompt> views;
    for (const Ids& prompt : prompts) {
        views.push_back({prompt});
    }
    const tg::nanovlm::PromptBatch batch(views, {});
    const tg::Forecast forecast = forecaster.forecast(batch.series(0));
    for (std::size_t b = 0; b < prompts.size(); ++b) {
        const auto begin = forecast.values().begin() + static_cast<Index>(b) * bucket.horizon;
        CAPTURE(b);
        CHECK(Ids(begin, begin + bucket.horizon) ==
              by_formulas(prompts[b], longest, static_cast<std::size_t>(bucket.horizon)));
    }
}

}  // namespace

TEST_CASE("the formulas give the reference's ids") {
    const nanovlm_fixture::Tensors tensors("rope_rescaled");
    CHECK(by_formulas(tensors.read<std::int32_t>("input_ids"), 9, 8) == tensors.read<std::int32_t>("decoded_ids"));
}

TEST_CASE("prompts of different lengths, positions that are divided while decoding") {
    check<nanovlm_cases::token_bucket(3, 9, 8)>(
        {{70, 4, 31}, {5, 60, 17, 33, 8, 21, 9, 44, 12}, {14, 3, 29, 71, 50, 6}}, 9);
}

TEST_CASE("prompts of different lengths, positions that are divided from the first on") {
    check<nanovlm_cases::token_bucket(2, 20, 6)>(
        {{9, 70, 4, 31, 26}, {5, 60, 17, 33, 8, 21, 9, 44, 12, 7, 65, 20, 19, 40, 2, 77}}, 16);
}
