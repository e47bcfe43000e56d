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

#include <totograph/core/shape.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/models/nanovlm/family.hpp>
#include <totograph/nn/padded_heads.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "support/check_rows.hpp"

// Every tensor of a case, on the way to the likeliest tokens, by any forecaster of `nanovlm_cases::Inspected`.
//
// The reference pads prompts on the left, and here they begin at the front: row i of a prompt is its row i behind the
// padding. What it computes for padding nobody reads.

namespace nanovlm_fixture {

template <class Case, class Forecaster>
class Parity {
    using Schedule = typename tg::FamilyOf<nanovlm_cases::Inspected<Case>>::template Schedule<Case::bucket>;
    static constexpr tg::nanovlm::NanoVlmConfig config = Case::config;
    static constexpr Index batch = Case::bucket.batch;
    static constexpr Index context = Case::bucket.context;
    static constexpr Index horizon = Case::bucket.horizon;
    static constexpr Index width = config.lm.lm_hidden_dim;
    static constexpr Index vocabulary = config.lm.lm_vocab_size;
    static constexpr Index kv_heads = config.lm.lm_n_kv_heads;
    static constexpr Index head = width / config.lm.lm_n_heads;
    static constexpr Index kept = tg::nn::padded_head_dim(head);  ///< Of a head in caches and tables.

public:
    Parity(Forecaster& forecaster, const std::string& name)
        : forecaster_(forecaster), tensors_(name), prompts_(tensors_) {}

    /// The likeliest token at each step.
    void check_greedy() {
        run([&](Index step) {
            if (step == 0) {
                check_prefill();
            } else {
                const auto hidden = tensors_["step_hidden"];
                check_step("step_hidden", floats("tap.step_hidden"), hidden, width, step - 1);
                check_step_rotation(step - 1);
            }
            check_step("step_logits", floats("tap.step_logits"), tensors_["step_logits"], vocabulary, step);
        });
        if constexpr (Schedule::sees) {
            check_vision();
        }
        check_cache("first", 0);
        check_cache("last", config.lm.lm_n_blocks - 1);
        const auto expected = tensors_.read<std::int32_t>("decoded_ids");
        const auto found = floats("forecast");
        for (Index b = 0; b < batch; ++b) {
            for (Index step = 0; step + 1 < horizon; ++step) {  // of the last one the reference has logits alone
                CHECK(found[at(b, horizon, step, 1)] == static_cast<float>(expected[at(b, horizon - 1, step, 1)]));
            }
        }
    }

    /// What a forecaster that rounds makes of a case, given the reference's tokens.
    struct Rounded {
        double logits = 0;  ///< Largest error of a logit, of the largest of its row.
        Index tokens = 0;   ///< Tokens that the reference takes as the likeliest.
        Index others = 0;   ///< Where another one is the likeliest here.
    };
    Rounded check_rounded() {
        const auto expected = tensors_.read<std::int32_t>("decoded_ids");
        const auto logits = tensors_["step_logits"];
        Rounded rounded;
        run([&](Index step) {
            const auto found = floats("tap.step_logits");
            auto drawn = floats("forecast");
            for (Index b = 0; b < batch; ++b) {
                const auto truth = logits.begin() + (step * batch + b) * vocabulary;
                double largest = 0;
                double error = 0;
                for (Index id = 0; id < vocabulary; ++id) {
                    largest = std::max(largest, std::abs(static_cast<double>(truth[id])));
                    const double distance = std::abs(static_cast<double>(found[at(b, 1, 0, vocabulary) + id]) -
                                                     static_cast<double>(truth[id]));
                    error = std::isnan(distance) ? INFINITY : std::max(error, distance);
                }
                rounded.logits = std::max(rounded.logits, error / largest);
                if (step + 1 < horizon) {
                    const auto likeliest = static_cast<float>(expected[at(b, horizon - 1, step, 1)]);
                    ++rounded.tokens;
                    rounded.others += drawn[at(b, horizon, step, 1)] == likeliest ? 0 : 1;
                    drawn[at(b, horizon, step, 1)] = likeliest;
                }
            }
            forecaster_.write_state("forecast", drawn);
        });
        return rounded;
    }

private:
    static std::size_t at(Index b, Index rows, Index row, Index columns) {
        return static_cast<std::size_t>((b * rows + row) * columns);
    }

    /// All programs, with something behind each token.
    template <class Behind>
    void run(const Behind& behind) {
        forecaster_.fill(prompts_.series, Case::bucket, 0);
        if constexpr (Schedule::sees) {
            forecaster_.write_state("pixels", tensors_["images"]);
        } else if constexpr (config.images > 0) {
            forecaster_.write_state("image.rows", tensors_["image_rows"]);
        }
        Index step = 0;
        [&]<std::size_t... program>(std::index_sequence<program...>) {
            const auto run = [&]<std::size_t which>() {
                for (Index left = Schedule::runs(which, horizon); left > 0; --left) {
                    forecaster_.template run<which>();
                    if (which >= Schedule::prefill) {
                        behind(step++);
                    }
                }
            };
            (run.template operator()<program>(), ...);
        }
        (std::make_index_sequence<Schedule::count>());
        CHECK(step == horizon);
    }

    [[nodiscard]] std::vector<float> floats(const std::string& name, int layer = -1) {
        return forecaster_.template read_state<float>(name, layer);
    }
    void check(const std::string& name, const std::vector<float>& found, Index row) {
        tg::test::check_rows(name, found, tensors_[name], static_cast<std::size_t>(row));
    }

    /// Rows of the prompts, `[batch, context, columns]`, without those of padding.
    void check_prompts(const std::string& name, const std::vector<float>& all, Index columns) {
        const auto reference = tensors_[name];
        std::vector<float> found;
        std::vector<float> expected;
        for (Index b = 0; b < batch; ++b) {
            const Index padding = prompts_.padding[static_cast<std::size_t>(b)];
            const auto add = [&](const std::vector<float>& from, Index first, std::vector<float>& to) {
                const auto begin = from.begin() + (b * context + first) * columns;
                to.insert(to.end(), begin, begin + (context - padding) * columns);
            };
            add(all, 0, found);
            add(reference, padding, expected);
        }
        tg::test::check_rows(name, found, expected, static_cast<std::size_t>(columns));
    }

    void check_prefill() {
        check_prompts("inputs_embeds", floats("tap.inputs_embeds"), width);
        for (int layer = 0; layer < config.lm.lm_n_blocks; ++layer) {
            check_prompts("layer_0" + std::to_string(layer), floats("tap.layer", layer), width);
        }
        check_prompts("hidden", floats("tap.hidden"), width);
        check_prompts("logits", floats("tap.logits"), vocabulary);
        check_rotation("rope_cos", floats("tap.rope_cos"), context, tensors_["rope_cos"]);
        check_rotation("rope_sin", floats("tap.rope_sin"), context, tensors_["rope_sin"]);
    }

    /// Of `[steps, batch, columns]`.
    void check_step(const std::string& name, const std::vector<float>& found, const std::vector<float>& all,
                    Index columns, Index step) {
        const auto begin = all.begin() + step * batch * columns;
        tg::test::check_rows(name, found, std::vector<float>(begin, begin + batch * columns),
                             static_cast<std::size_t>(columns));
    }

    /// Of the prompt without padding, whose positions are the reference's.
    [[nodiscard]] Index longest() const {
        return std::find(prompts_.padding.begin(), prompts_.padding.end(), 0) - prompts_.padding.begin();
    }
    void check_step_rotation(Index step) {
        for (const std::string name : {"step_rope_cos", "step_rope_sin"}) {
            const auto begin = [](const std::vector<float>& all, Index row, Index columns) {
                return all.begin() + row * columns;
            };
            const auto found = floats("tap." + name);
            const auto reference = tensors_[name];
            check_rotation(name, {begin(found, longest(), kept), begin(found, longest() + 1, kept)}, 1,
                           {begin(reference, step, head), begin(reference, step + 1, head)});
        }
    }
    /// The reference's tables are halves; here each frequency stands twice, side by side, and without a scale.
    void check_rotation(const std::string& name, const std::vector<float>& found, Index rows,
                        const std::vector<float>& expected) {
        std::vector<float> halves;
        for (Index row = 0; row < rows; ++row) {
            for (Index j = 0; j < head; ++j) {
                halves.push_back(found[at(0, 1, row, kept) + static_cast<std::size_t>(2 * (j % (head / 2)))] *
                                 static_cast<float>(config.lm.lm_attn_scaling));
            }
        }
        tg::test::check_rows(name, halves, expected, static_cast<std::size_t>(head));
    }

    /// Keys and values of one layer at the end, `[batch, kv_heads, context + horizon - 1, head]`.
    void check_cache(const std::string& name, int layer) {
        for (const std::string what : {"keys", "values"}) {
            const bool is_keys = what == "keys";
            const auto reference = tensors_[name + "_" + what];
            const auto prefix = floats("prefix." + what, layer);
            const auto suffix = floats("suffix." + what, layer);
            std::vector<float> found;
            std::vector<float> expected;
            for (Index b = 0; b < batch; ++b) {
                const Index padding = prompts_.padding[static_cast<std::size_t>(b)];
                if (is_keys && padding > 0) {
                    continue;  // turned by other positions: their differences are the same
                }
                for (Index k = 0; k < kv_heads; ++k) {
                    for (Index t = padding; t < context + horizon - 1; ++t) {
                        const bool is_new = t >= context;
                        const auto& rows = is_new ? suffix : prefix;
                        const std::size_t row = is_new ? at(b, horizon - 1, t - context, kv_heads * kept)
                                                       : at(b, context, t - padding, kv_heads * kept);
                        for (Index j = 0; j < head; ++j) {
                            const Index place = is_keys ? j % (head / 2) * 2 + j / (head / 2) : j;
                            const double scale = is_keys ? config.lm.lm_attn_scaling : 1;
                            found.push_back(rows[row + static_cast<std::size_t>(k * kept + place)] *
                                            static_cast<float>(scale));
                            expected.push_back(reference[static_cast<std::size_t>(
                                ((b * kv_heads + k) * (context + horizon - 1) + t) * head + j)]);
                        }
                    }
                }
            }
            tg::test::check_rows(name + "_" + what, found, expected, static_cast<std::size_t>(head));
        }
    }

    void check_vision() {
        const Index vit_width = config.vit.vit_hidden_dim;
        check("patch_embedding", floats("tap.patch_embedding"), vit_width);
        for (int layer = 0; layer < config.vit.vit_n_blocks; ++layer) {
            check("vit_layer_0" + std::to_string(layer), floats("tap.vit_layer", layer), vit_width);
        }
        check("vit_out", floats("tap.vit_out"), vit_width);
        check("pixel_shuffled", floats("tap.pixel_shuffled"), config.vit.shuffled_width());
        check("image_rows", floats("image.rows"), width);
    }

    Forecaster& forecaster_;
    Tensors tensors_;
    Prompts prompts_;
};

}  // namespace nanovlm_fixture
