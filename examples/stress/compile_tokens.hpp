// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/nanovlm/prompts.hpp>

#include "compile_grid.hpp"
#include "grid_model.hpp"
#include "grids.hpp"

namespace examples {

/// Prompts of random ids, none of which stands for an image.
class RandomPrompts {
public:
    RandomPrompts(const totograph::Bucket& sizes, std::uint64_t seed, const totograph::nanovlm::NanoVlmConfig& config)
        : ids_(static_cast<std::size_t>(sizes.batch)) {
        std::mt19937_64 generator(seed);
        for (std::vector<std::int32_t>& prompt : ids_) {
            while (static_cast<totograph::Index>(prompt.size()) < sizes.context) {
                const auto id =
                    static_cast<totograph::Index>(generator() % static_cast<std::uint64_t>(config.lm.lm_vocab_size));
                if (id != config.image_token_id) {
                    prompt.push_back(static_cast<std::int32_t>(id));
                }
            }
            prompts_.push_back({prompt});
        }
        batch_.emplace(prompts_, totograph::nanovlm::GenerateOptions{});
    }
    RandomPrompts(const RandomPrompts&) = delete;
    RandomPrompts& operator=(const RandomPrompts&) = delete;
    ~RandomPrompts() = default;

    /// A view of this object's memory.
    [[nodiscard]] totograph::Series series() const { return batch_->series(0); }

private:
    std::vector<std::vector<std::int32_t>> ids_;
    std::vector<totograph::nanovlm::Prompt> prompts_;
    std::optional<totograph::nanovlm::PromptBatch> batch_;
};

/// A nanoVLM with the sizes of its grid.
template <class Grid>
constexpr GridModel compile_tokens(std::string_view name) {
    GridModel model = compile_grid<Grid>(name);
    model.words = [] {
        return totograph::serve::GridWords{
            .context = "prompt", .batch = "prompts", .step = "token", .steps = "tokens", .values = "ids", .least = 0};
    };
    model.request = [](const totograph::Bucket& sizes, std::uint64_t seed) {
        const auto prompts = std::make_shared<const RandomPrompts>(sizes, seed, Grid::Model::config);
        return totograph::serve::GridRequest{prompts->series(), prompts};
    };
    model.is_of = [](const totograph::io::ModelConfig& config) {
        const totograph::nanovlm::LanguageConfig& lm = Grid::Model::config.lm;
        return config.integer("lm_hidden_dim") == lm.lm_hidden_dim && config.integer("lm_n_blocks") == lm.lm_n_blocks &&
               config.integer("lm_vocab_size") == lm.lm_vocab_size;
    };
    return model;
}

}  // namespace examples
