// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/totograph.hpp>

#include "compiled_model.hpp"

namespace examples {

/// A model with one size: a prompt with an image. Its tokens are drawn; of one logit that stays, that is the likeliest.
template <class Model, totograph::Index tokens, totograph::Index new_tokens>
constexpr CompiledVlm compile_vlm(std::string_view name) {
    namespace tg = totograph;
    return {.name = name,
            .config = Model::config,
            .tokens = tokens,
            .new_tokens = new_tokens,
            .generate = [](const VlmRequest& request, void (*begin)(void*), void* context) {
                constexpr tg::Bucket bucket = tg::nanovlm::token_bucket(1, tokens, new_tokens, 1);
                const auto weights =
                    request.checkpoint.empty() ? tg::untrained<Model>() : tg::load<Model>(request.checkpoint);
                tg::nanovlm::Generator<Model, bucket> generator(weights, {.threads = request.threads});
                begin(context);
                return generator.generate(request.prompts, request.options);
            }};
}

}  // namespace examples
