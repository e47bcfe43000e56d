// SPDX-License-Identifier: Apache-2.0
//
// vlm: ids of prompts and pixels of images in, ids out, by a nanoVLM; with the time to the first token, and tokens a
// second. The parts are in vlm/; compile_model.hpp is the part that generates.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/models/nanovlm/prompts.hpp>

#include "common/output_files.hpp"
#include "common/run_program.hpp"
#include "vlm/command_line.hpp"
#include "vlm/compiled_model.hpp"
#include "vlm/listed_models.hpp"
#include "vlm/options.hpp"
#include "vlm/read_prompts.hpp"

namespace {

using namespace examples;
using totograph::nanovlm::Generated;

/// When tokens came.
struct TokenTimes {
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin{};  ///< Of the newest prompt.
    double first = 0;           ///< Seconds to the first token, of all prompts together.
    double others = 0;          ///< Seconds for all others.
    std::int64_t prompts = 0;
    std::int64_t tokens = 0;  ///< Behind the first ones.

    void start() { begin = Clock::now(); }
    void token(totograph::Index count) {
        const Clock::time_point now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - begin).count();
        begin = now;
        (count == 1 ? first : others) += seconds;
        (count == 1 ? prompts : tokens) += 1;
    }

    [[nodiscard]] std::string text() const {
        char line[160];
        std::snprintf(line, sizeof(line), "time to the first token %.3g ms%s", 1e3 * first / double(prompts),
                      prompts > 1 ? " on average" : "");
        std::string result = line;
        if (tokens > 0) {
            std::snprintf(line, sizeof(line), ", then %.4g tokens a second", double(tokens) / others);
            result += line;
        }
        return result;
    }
};

/// What changes when the checkpoint is read.
struct Beginning {
    TokenTimes& times;
    Stage& stage;

    void begin() const {
        stage = Stage::forecast;
        times.start();
    }
};

/// Refuses ids that stand where no logit was a number. Throws `Error(not_finite)`.
void check_finite(const Generated& generated) {
    for (totograph::Index prompt = 0; prompt < generated.prompts(); ++prompt) {
        const std::span<const std::int32_t> ids = generated.tokens(prompt);
        if (std::any_of(ids.begin(), ids.end(), [](std::int32_t id) { return id < 0; })) {
            throw totograph::Error(totograph::ErrorCode::not_finite,
                                   "The model gave no finite numbers behind prompt " + std::to_string(prompt) +
                                       "; the checkpoint may be damaged, or pixels are not of 0 to 1.");
        }
    }
}

/// A line of ids for each prompt, without end tokens.
std::string lines_of(const Generated& generated) {
    std::string text;
    for (totograph::Index prompt = 0; prompt < generated.prompts(); ++prompt) {
        std::string line;
        for (const std::int32_t id : generated.tokens(prompt)) {
            line += line.empty() ? "" : " ";  // apart from the number, or g++ 12 warns at -O3
            line += std::to_string(id);
        }
        text += line + "\n";
    }
    return text;
}

totograph::nanovlm::GenerateOptions generate_options(const VlmCommand& options, const CompiledVlm& model,
                                                     TokenTimes& times) {
    totograph::nanovlm::GenerateOptions result{
        .new_tokens = options.new_tokens.value_or(std::min<std::int64_t>(64, model.new_tokens)),
        .seed = options.draw.seed,
        .temperature = static_cast<float>(options.draw.temperature),
        .top_k = static_cast<std::int32_t>(options.draws ? options.draw.top_k : 1),
        .top_p = static_cast<float>(options.draw.top_p),
        .on_token = [&times](totograph::Index count) { times.token(count); }};
    result.end_token.reset();
    if (options.end_token >= 0) {
        result.end_token = static_cast<std::int32_t>(options.end_token);
    }
    return result;
}

int run(const VlmCommand& options, Stage& stage) {
    stage = Stage::output;
    if (!options.output_is_stdout()) {
        OutputFiles::check(options.output);
    }
    stage = options.untrained.empty() ? Stage::checkpoint : Stage::arguments;
    const CompiledVlm& model = options.untrained.empty() ? vlm_of(options.checkpoint) : vlm_named(options.untrained);
    stage = Stage::input;
    VlmInput input{.tokens = read_prompts(options.input), .pixels = {}};
    if (!options.pixels.empty()) {
        input.pixels = read_pixels(options.pixels, model.config);
    }
    const std::vector<totograph::nanovlm::Prompt> prompts = input.prompts(model.config);
    TokenTimes times;
    const VlmRequest request{.checkpoint = options.checkpoint,
                             .prompts = prompts,
                             .options = generate_options(options, model, times),
                             .threads = options.threads};
    totograph::nanovlm::check_prompts(prompts, request.options, {model.tokens, model.new_tokens, model.config});
    stage = options.untrained.empty() ? Stage::checkpoint : Stage::forecast;
    Beginning beginning{times, stage};
    const Generated generated = model.generate(
        request, [](void* context) { static_cast<Beginning*>(context)->begin(); }, &beginning);
    check_finite(generated);
    stage = Stage::output;
    if (options.output_is_stdout()) {
        print(lines_of(generated));
    } else {
        OutputFiles files;
        files.add(options.output, lines_of(generated));
        files.commit();
    }
    if (!options.quiet) {
        std::fprintf(stderr, "vlm: %s%s\n", times.text().c_str(),
                     options.untrained.empty() ? "" : "; untrained: it knows nothing");
    }
    return exit_ok;
}

}  // namespace

int main(int argument_count, char** arguments) {
    return run_program(
        "vlm", "fewer --new-tokens",
        [&](std::ostream& answer) { return parse_vlm_command(argument_count, arguments, answer); }, run);
}
