// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/models/nanovlm/generator.hpp>

#include "../measure.hpp"

// Whole calls of nanoVLM's language model of 460M: ids in, ids out, the likeliest ones.

namespace bench::nanovlm {

struct Arguments {
    std::vector<std::string> workloads;
    std::vector<std::string> precisions{"bf16", "tf32"};
    int repeats = 20;
    bool launch_costs = false;  ///< What each launch adds, too.

    [[nodiscard]] bool wants(std::string_view workload, Precision precision) const {
        const auto has = [](const std::vector<std::string>& list, std::string_view item) {
            return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
        };
        return has(workloads, workload) && has(precisions, tg::cuda::name(precision));
    }
};

inline constexpr Index new_tokens = 64;

/// Prompts of random ids, with an image where the model takes one.
template <class Model, tg::Bucket bucket>
struct RandomPrompts {
    std::vector<std::vector<std::int32_t>> ids;
    std::vector<float> pixels;
    std::vector<tg::nanovlm::Prompt> prompts;

    RandomPrompts() {
        constexpr tg::nanovlm::NanoVlmConfig config = Model::config;
        std::mt19937 generator(1);
        std::uniform_int_distribution<std::int32_t> id(3, 49151);
        std::uniform_real_distribution<float> pixel(0, 1);
        for (Index i = 0; i < config.images * config.vit.pixels(); ++i) {
            pixels.push_back(pixel(generator));
        }
        for (Index row = 0; row < bucket.batch; ++row) {
            std::vector<std::int32_t> prompt;
            for (Index i = 0; i < bucket.context; ++i) {
                prompt.push_back(i > 0 && i <= config.image_rows() ? static_cast<std::int32_t>(config.image_token_id)
                                                                   : id(generator));
            }
            ids.push_back(prompt);
        }
        for (const auto& prompt : ids) {
            prompts.push_back({prompt, pixels});
        }
    }
};

/// Times whole calls in one precision, for all new tokens and for one, as a caller sees them, and prints a line.
template <class Model, tg::Bucket bucket, Precision precision>
void measure_precision(const char* name, const Arguments& arguments,
                       const tg::ModelWeights<typename tg::CheckpointOf<Model>::type>& weights) {
    if (!arguments.wants(name, precision)) {
        return;
    }
    using Generator = tg::nanovlm::Generator<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;
    const auto construction = Clock::now();
    Generator generator(weights);
    const double construction_ms = milliseconds_since(construction);
    const RandomPrompts<Model, bucket> given;
    const auto generate = [&](Index tokens) {
        (void)generator.generate(given.prompts, {.new_tokens = tokens, .end_token = {}});
    };
    const Spread whole = spread_of(arguments.repeats, [&] { generate(new_tokens); });
    const Spread first = spread_of(arguments.repeats, [&] { generate(1); });
    std::printf(
        "{\"implementation\": \"totograph-cuda\", \"workload\": \"%s\", \"precision\": \"%s\", \"median_ms\": %.4f, "
        "\"min_ms\": %.4f, \"max_ms\": %.4f, \"first_token_ms\": %.4f, \"step_us\": %.1f, \"graph_nodes\": %zu, "
        "\"construction_ms\": %.1f, \"device_mib\": %.1f}\n",
        name, tg::cuda::name(precision), whole.median, whole.least, whole.most, first.median,
        1e3 * (whole.median - first.median) / (new_tokens - 1), generator.forecaster().graph_nodes(), construction_ms,
        static_cast<double>(Generator::Forecaster::device_bytes()) / 1048576);
    if (arguments.launch_costs) {
        print_all_launch_costs(name, tg::cuda::name(precision), generator.forecaster(), arguments.repeats);
    }
    std::fflush(stdout);
}

template <class Model, tg::Bucket bucket>
void measure(const char* name, const Arguments& arguments) {
    if (!arguments.wants(name, Precision::bf16) && !arguments.wants(name, Precision::tf32)) {
        return;
    }
    const auto weights = tg::untrained<typename tg::CheckpointOf<Model>::type>();
    measure_precision<Model, bucket, Precision::bf16>(name, arguments, weights);
    measure_precision<Model, bucket, Precision::tf32>(name, arguments, weights);
}

// The sizes that the reference's benchmark calls short, long and batch; and a prompt with an image of 512 x 512.
using Text = tg::nanovlm::TextOnly<tg::nanovlm::vlm_460m>;
void short_prompt(const Arguments& arguments);
void long_prompt(const Arguments& arguments);
void batch(const Arguments& arguments);
void image(const Arguments& arguments);

}  // namespace bench::nanovlm
