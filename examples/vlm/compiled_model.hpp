// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/models/nanovlm/prompts.hpp>

namespace examples {

/// Tokens to generate: by a checkpoint, or by untrained weights where it is empty.
struct VlmRequest {
    std::filesystem::path checkpoint;
    std::span<const totograph::nanovlm::Prompt> prompts;
    totograph::nanovlm::GenerateOptions options;
    int threads = 0;
};

/// A nanoVLM with its sizes and how to generate with it.
struct CompiledVlm {
    std::string_view name;
    totograph::nanovlm::NanoVlmConfig config;
    totograph::Index tokens;      ///< Of a prompt, at most.
    totograph::Index new_tokens;  ///< To choose, at most.
    /// `begin` is called when weights are ready.
    totograph::nanovlm::Generated (*generate)(const VlmRequest& request, void (*begin)(void*), void* context);
};

}  // namespace examples
