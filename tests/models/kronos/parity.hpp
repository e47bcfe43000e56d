// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/categorical.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/models/kronos/family.hpp>

#include "models/kronos/cases.hpp"
#include "models/kronos/fixture.hpp"

// Every tensor of a case, on the way to a greedy forecast and to one that is drawn, by any forecaster of
// `kronos_cases::Inspected`.

namespace kronos_fixture {

/// The last of `count` rows of each `[rows, width]`.
inline std::vector<float> last_rows(const std::vector<float>& all, Index outer, Index kept, Index width) {
    const Index rows = static_cast<Index>(all.size()) / (outer * width);
    std::vector<float> result;
    for (Index b = 0; b < outer; ++b) {
        const auto end = all.begin() + (b + 1) * rows * width;
        result.insert(result.end(), end - kept * width, end);
    }
    return result;
}

/// The rows of a path, of `[batch, samples, size]`.
template <class T>
std::vector<T> of_path(const std::vector<T>& all, Index batch, Index samples, Index path) {
    const Index size = static_cast<Index>(all.size()) / (batch * samples);
    std::vector<T> result;
    for (Index b = 0; b < batch; ++b) {
        const auto begin = all.begin() + (b * samples + path) * size;
        result.insert(result.end(), begin, begin + size);
    }
    return result;
}

/// @tparam Model  the case with states that can be looked into
template <class Case, class Forecaster, class Model = kronos_cases::Inspected<Case>>
class Parity {
    using Schedule = typename tg::FamilyOf<Model>::template Schedule<Case::bucket>;
    static constexpr Index batch = Case::bucket.batch;
    static constexpr Index samples = Case::bucket.samples;
    static constexpr Index horizon = Case::bucket.horizon;
    static constexpr Index width = Case::config.predictor.d_model;
    static constexpr Index code_width = Case::config.tokenizer.d_model;
    static constexpr Index s1_ids = Case::config.predictor.s1_ids();
    static constexpr Index s2_ids = Case::config.predictor.s2_ids();

public:
    Parity(Forecaster& forecaster, const std::string& name)
        : forecaster_(forecaster), tensors_(name), inputs_(tensors_) {}

    /// The largest logit at each step.
    void check_greedy() {
        inputs_.series.draws = {.temperature = 1, .filter = {.top_k = 1, .top_p = 1}};
        const std::vector<std::int32_t> nobody(static_cast<std::size_t>(batch * samples), -1);
        fill();
        force(nobody, nobody);
        run_steps([](Index) {},
                  [&](Index step) {
                      if (step == 0) {
                          check_prefill();
                      }
                      check_logits("step_s1_logits", "tap.s1_logits", s1_ids, step);
                      check_logits("step_s2_logits", "tap.s2_logits", s2_ids, step);
                  });
        for (Index path = 0; path < samples; ++path) {
            CHECK(drawn("drawn.s1", path) == tensors_.read<std::int32_t>("greedy_s1"));
            CHECK(drawn("drawn.s2", path) == tensors_.read<std::int32_t>("greedy_s2"));
        }
        check_decoder();
        check("forecast_normalised", of_path(floats("tap.forecast_normalised"), batch, samples, 0), 6);
        check_forecast(tensors_.read<double>("forecast"));
    }

    /// Ids drawn by the reference's uniform numbers, each given to the programs once it has been compared.
    void check_drawn() {
        inputs_.series.draws = Case::draws;
        const auto s1 = tensors_.read<std::int32_t>("sample_s1");
        const auto s2 = tensors_.read<std::int32_t>("sample_s2");
        fill();
        run_steps([&](Index step) { force(of_step(s1, step), of_step(s2, step)); },
                  [&](Index step) {
                      check_ids("tap.s1_logits", s1_ids, step, 0, of_step(s1, step));
                      check_ids("tap.s2_logits", s2_ids, step, 1, of_step(s2, step));
                  });
        check("sample_paths_normalised", floats("tap.forecast_normalised"), 6);
    }

    /// What a predictor that rounds makes of a case.
    struct Rounded {
        double s1_logits = 0;  ///< Largest error of a logit, of the largest of its row, given the reference's ids.
        double s2_logits = 0;  ///< The same of the second id.
        Index ids = 0;         ///< Ids that the reference takes as the likeliest.
        Index others = 0;      ///< Where another one is the likeliest here.
    };
    /// Tokenizers do not round: ids of the context, and candles of given ids, are those of the reference.
    Rounded check_rounded() {
        inputs_.series.draws = {.temperature = 1, .filter = {.top_k = 1, .top_p = 1}};
        const auto s1 = of_all_paths(tensors_.read<std::int32_t>("greedy_s1"));
        const auto s2 = of_all_paths(tensors_.read<std::int32_t>("greedy_s2"));
        Rounded rounded;
        fill();
        run_steps([&](Index step) { force(of_step(s1, step), of_step(s2, step)); },
                  [&](Index step) {
                      add_rounded(rounded, rounded.s1_logits, "step_s1_logits", "tap.s1_logits", s1_ids, step);
                      add_rounded(rounded, rounded.s2_logits, "step_s2_logits", "tap.s2_logits", s2_ids, step);
                  });
        CHECK(integers("tap.context_s1") == tensors_.read<std::int32_t>("context_s1"));
        CHECK(integers("tap.context_s2") == tensors_.read<std::int32_t>("context_s2"));
        check("forecast_normalised", of_path(floats("tap.forecast_normalised"), batch, samples, 0), 6);
        check_forecast(tensors_.read<double>("forecast"));
        return rounded;
    }

private:
    void fill() {
        forecaster_.fill(inputs_.series, Case::bucket, 0);
        // Normalized in f32, up to 1.4e-5 from f64; the tokenizer makes more of that than it rounds by itself.
        forecaster_.write_state("forced.normalised", tensors_["normalised_f32"]);
    }
    void force(const std::vector<std::int32_t>& s1, const std::vector<std::int32_t>& s2) {
        forecaster_.write_state("forced.s1", s1);
        forecaster_.write_state("forced.s2", s2);
    }
    [[nodiscard]] std::vector<float> floats(const std::string& name, int layer = -1) {
        return forecaster_.template read_state<float>(name, layer);
    }
    void check(const std::string& name, const std::vector<float>& found, Index row) {
        check_rows(name, found, tensors_[name], static_cast<std::size_t>(row));
    }

    /// All programs, with something before and behind each step.
    template <class Before, class Behind>
    void run_steps(const Before& before, const Behind& behind) {
        Index step = 0;
        [&]<std::size_t... program>(std::index_sequence<program...>) {
            const auto run = [&]<std::size_t which>() {
                const bool draws = which > 0 && which + 1 < Schedule::count;
                for (Index left = Schedule::runs(which, horizon); left > 0; --left) {
                    if (draws) {
                        before(step);
                    }
                    forecaster_.template run<which>();
                    if (draws) {
                        behind(step++);
                    }
                }
            };
            (run.template operator()<program>(), ...);
        }
        (std::make_index_sequence<Schedule::count>());
        CHECK(step == horizon);
    }

    void check_prefill() {
        check("normalised", floats("tap.normalised"), 6);
        check("encoder_embedding", floats("tap.encoder_embedding"), code_width);
        for (int layer = 0; layer < Case::config.tokenizer.n_enc_layers - 1; ++layer) {
            check("encoder_0" + std::to_string(layer), floats("tap.encoder", layer), code_width);
        }
        check("pre_quant", floats("tap.pre_quant"), Case::config.tokenizer.bits());
        CHECK(integers("tap.context_s1") == tensors_.read<std::int32_t>("context_s1"));
        CHECK(integers("tap.context_s2") == tensors_.read<std::int32_t>("context_s2"));
        check("token_embedding", floats("tap.token_embedding"), width);
        check("time_embedding", floats("tap.time_embedding"), width);
        for (int layer = 0; layer < Case::config.predictor.n_layers; ++layer) {
            check("layer_0" + std::to_string(layer), floats("tap.layer", layer), width);
        }
        check("context", floats("tap.context"), width);
        check("dependency_attention", of_path(floats("tap.dependency"), batch, samples, 0), width);
    }

    void check_logits(const std::string& name, const std::string& state, Index vocabulary, Index step) {
        const auto all = tensors_[name];
        const auto begin = all.begin() + step * batch * vocabulary;
        const std::vector<float> expected(begin, begin + batch * vocabulary);
        check_rows(name, of_path(floats(state), batch, samples, 0), expected, static_cast<std::size_t>(vocabulary));
    }

    void add_rounded(Rounded& rounded, double& worst, const std::string& name, const std::string& state,
                     Index vocabulary, Index step) {
        const auto all = tensors_[name];
        const auto found = of_path(floats(state), batch, samples, 0);
        for (Index b = 0; b < batch; ++b) {
            const auto truth = all.begin() + (step * batch + b) * vocabulary;
            const auto mine = found.begin() + b * vocabulary;
            double largest = 0;
            double error = 0;
            for (Index id = 0; id < vocabulary; ++id) {
                largest = std::max(largest, std::abs(static_cast<double>(truth[id])));
                const double distance = std::abs(static_cast<double>(mine[id]) - static_cast<double>(truth[id]));
                error = std::isnan(distance) ? INFINITY : std::max(error, distance);
            }
            worst = std::max(worst, error / largest);
            ++rounded.ids;
            rounded.others +=
                std::max_element(mine, mine + vocabulary) - mine != std::max_element(truth, truth + vocabulary) - truth
                    ? 1
                    : 0;
        }
    }

    void check_decoder() {
        const auto check_last = [&](const std::string& name, const std::vector<float>& all) {
            const std::vector<float> found = of_path(all, batch, samples, 0);
            const Index rows = static_cast<Index>(found.size()) / (batch * code_width);
            check_rows(name, found, last_rows(tensors_[name], batch, rows, code_width),
                       static_cast<std::size_t>(code_width));
        };
        check_last("decoder_embedding", floats("tap.decoder_embedding"));
        for (int layer = 0; layer < Case::config.tokenizer.n_dec_layers - 1; ++layer) {
            check_last("decoder_0" + std::to_string(layer), floats("tap.decoder", layer));
        }
        if constexpr (!tg::kronos::Parts<Case, Case::bucket>::slides) {
            check("reconstruction", floats("tap.reconstruction"), 6);
        }
    }

    /// Of the first path, `[batch, horizon, 6]`: within 3e-6 of each column's largest value.
    void check_forecast(const std::vector<double>& expected) {
        const auto all = of_path(floats("forecast"), batch, samples, 0);
        double worst = 0;
        for (Index b = 0; b < batch; ++b) {
            for (Index column = 0; column < tg::kronos::column_count; ++column) {
                double largest = 0;
                double error = 0;
                for (Index step = 0; step < horizon; ++step) {
                    const double truth = expected[static_cast<std::size_t>((b * horizon + step) * 6 + column)];
                    const auto found = static_cast<double>(
                        all[static_cast<std::size_t>((b * tg::kronos::variate_count + column) * horizon + step)]);
                    largest = std::max(largest, std::abs(truth));
                    error = std::max(error, std::abs(found - truth));
                }
                // Where a column is 0 throughout, so is its scale, but for the reference's epsilon.
                worst = std::max(worst, error / std::max(largest, 1e-3));
            }
        }
        CHECK_MESSAGE(worst <= 3e-6, "forecast: " << worst);
    }

    [[nodiscard]] std::vector<std::int32_t> integers(const std::string& name) {
        return forecaster_.template read_state<std::int32_t>(name);
    }
    [[nodiscard]] std::vector<std::int32_t> drawn(const std::string& name, Index path) {
        return of_path(integers(name), batch, samples, path);
    }
    /// From `[batch, horizon]`.
    [[nodiscard]] static std::vector<std::int32_t> of_all_paths(const std::vector<std::int32_t>& one) {
        std::vector<std::int32_t> result;
        for (Index row = 0; row < batch * samples; ++row) {
            const auto begin = one.begin() + row / samples * horizon;
            result.insert(result.end(), begin, begin + horizon);
        }
        return result;
    }
    /// Of `[batch, samples, horizon]`.
    [[nodiscard]] static std::vector<std::int32_t> of_step(const std::vector<std::int32_t>& all, Index step) {
        std::vector<std::int32_t> result;
        for (Index row = 0; row < batch * samples; ++row) {
            result.push_back(all[static_cast<std::size_t>(row * horizon + step)]);
        }
        return result;
    }

    /// What the library draws of the programs' logits where its random words are the reference's numbers.
    void check_ids(const std::string& state, Index vocabulary, Index step, Index level,
                   const std::vector<std::int32_t>& expected) {
        const auto uniform = tensors_.read<double>("sample_u");  // [horizon, 2, batch, samples]
        const auto logits = floats(state);
        tg::CategoricalOptions filter = Case::draws.filter;
        filter.top_p = filter.top_k > 0 ? 1.0F : filter.top_p;
        for (Index row = 0; row < batch * samples; ++row) {
            const double u = uniform[static_cast<std::size_t>((step * 2 + level) * batch * samples + row)];
            const auto logit = [&](std::int64_t id) {
                return logits[static_cast<std::size_t>(row * vocabulary + id)] / Case::draws.temperature;
            };
            CHECK(tg::sample_categorical(vocabulary, logit, filter, static_cast<std::uint32_t>(u * 0x1p32)) ==
                  expected[static_cast<std::size_t>(row)]);
        }
    }

    Forecaster& forecaster_;
    Tensors tensors_;
    Inputs inputs_;
};

}  // namespace kronos_fixture
