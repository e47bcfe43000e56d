// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "../common/checks.hpp"

namespace examples {

/// What the command line of `vlm` says.
struct VlmCommand {
    std::filesystem::path input;
    std::filesystem::path pixels;
    std::filesystem::path checkpoint;
    std::string untrained;  ///< The model whose untrained weights are used in place of a checkpoint.
    std::int64_t new_tokens = 64;
    std::int64_t end_token = 2;  ///< -1: none.
    bool draws = false;
    double temperature = 0.5;
    std::int64_t top_k = 50;
    double top_p = 0.9;
    std::uint64_t seed = 0;
    int threads = 0;
    bool quiet = false;
    std::filesystem::path output;
};

/// Refuses what cannot be. Throws `Error(invalid_argument)`.
inline void check_options(const VlmCommand& options) {
    using namespace detail;
    if (options.untrained.empty() == options.checkpoint.empty()) {
        reject(options.untrained.empty()
                   ? "Name the folder of a checkpoint with --checkpoint, or try the program with --untrained MODEL."
                   : "--untrained stands in place of a checkpoint; leave one of them out.");
    }
    check_at_least(options.new_tokens, 1, "--new-tokens");
    check_at_least(options.end_token, -1, "--end-token");
    check_at_most(options.end_token, 1 << 24, "--end-token");
    check_at_least(options.top_k, 0, "--top-k");
    check_at_most(options.top_k, 1 << 24, "--top-k");
    check_at_least(options.threads, 0, "--threads");
    if (!(options.temperature > 0)) {
        reject("--temperature must be above 0; without --draw the likeliest token is taken.");
    }
    if (!(options.top_p > 0 && options.top_p <= 1)) {
        reject("--top-p must be above 0 and at most 1.");
    }
}

}  // namespace examples
