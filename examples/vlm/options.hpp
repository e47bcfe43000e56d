// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "../common/check_files.hpp"
#include "../common/checks.hpp"
#include "../common/draw_options.hpp"

namespace examples {

/// What the command line of `vlm` says.
struct VlmCommand {
    std::filesystem::path input;
    std::filesystem::path pixels;
    std::filesystem::path checkpoint;
    std::string untrained;                   ///< The model whose untrained weights are used in place of a checkpoint.
    std::optional<std::int64_t> new_tokens;  ///< Absent: 64, or as many as the model has room for.
    std::int64_t end_token = 2;              ///< -1: none.
    bool draws = false;
    DrawOptions draw{.temperature = 0.5, .top_k = 50};
    int threads = 0;
    bool quiet = false;
    std::filesystem::path output;  ///< Empty or "-": standard output.

    [[nodiscard]] bool output_is_stdout() const { return output.empty() || output == "-"; }
};

/// Refuses what cannot be. Throws `Error(invalid_argument)`.
inline void check_options(const VlmCommand& options) {
    using namespace detail;
    if (options.untrained.empty() == options.checkpoint.empty()) {
        reject(options.untrained.empty()
                   ? "Name the folder of a checkpoint with --checkpoint, or try the program with --untrained MODEL."
                   : no_checkpoint_beside_untrained);
    }
    check_files({{"--output", options.output, true}},
                {{"input", options.input}, {"pixels", options.pixels}, {"checkpoint", options.checkpoint}});
    check_at_least(options.new_tokens.value_or(1), 1, "--new-tokens");
    check_at_least(options.end_token, -1, "--end-token");
    check_at_most(options.end_token, 1 << 24, "--end-token");
    check_draws(options.draw, 1 << 24, "without --draw the likeliest token is taken");
    check_threads(options.threads);
}

}  // namespace examples
