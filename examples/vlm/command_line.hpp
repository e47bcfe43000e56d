// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include <totograph/version.hpp>

#include "../common/command_line_parts.hpp"
#include "options.hpp"

namespace examples {

namespace detail {

inline constexpr const char* vlm_footer = R"(
The file holds the ids of a prompt on each line, with blanks or commas between them; what is chosen comes out alike.
Image tokens stand for the rows of images, whose pixels are numbers of 0 to 1 in a safetensors file: the tensor
'pixels', f32 [images, 3, size, size], in the order of the image tokens.
Ids come from the model's tokenizer, in Python: transformers.AutoTokenizer.from_pretrained(...). With --draw, tokens are
drawn as the public implementation of nanoVLM draws them.

Examples:
  vlm prompts.txt --checkpoint nanoVLM-460M-8k --pixels image.safetensors
      describe an image: the likeliest 64 ids
  echo "1 4093 198" | vlm - --checkpoint nanoVLM-460M-8k --draw --temperature 0.8 --seed 7
      go on with a text
  echo "5 9 30" | vlm - --untrained tiny --new-tokens 8
      see the program at work, with weights that know nothing

Exit codes are those of 'forecast --help'.
)";

inline void add_token_options(CLI::App& app, VlmCommand& options) {
    const std::string group = "Tokens";
    app.add_option("--new-tokens", options.new_tokens,
                   "Tokens to choose, at most (default: 64, or as many as the\nmodel was compiled for)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_option("--end-token", options.end_token, "Id at which a text ends; -1: at none (default: 2)")
        ->type_name("ID")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_flag("--draw", options.draws, "Draw tokens, and do not take the likeliest ones")->group(group);
    add_draw_options(app, options.draw, group,
                     {.temperature = "Of --draw: below 1, draws differ less (default: 0.5)",
                      .top_k = "Of --draw: from the K likeliest ids; 0: from all (default: 50)",
                      .top_p = "Of --draw: from the likeliest ids of this share (default: 0.9)"});
}

}  // namespace detail

/// Reads the command line. Nothing comes back when all is said already. Throws `Error(invalid_argument)` with one
/// sentence for a command line that cannot be used.
inline std::optional<VlmCommand> parse_vlm_command(int argument_count, const char* const* arguments,
                                                   std::ostream& out) {
    CLI::App app("Chooses tokens behind prompts and images with a nanoVLM.", "vlm");
    app.footer(detail::vlm_footer);
    app.get_formatter()->column_width(30);
    VlmCommand options;
    app.add_option("file", options.input, "Text file with a prompt of ids on each line (-: standard input)")
        ->required()
        ->type_name("PATH");
    app.add_option("--pixels", options.pixels, "Images, as a tensor in a safetensors file")->type_name("PATH");
    app.add_option("--checkpoint", options.checkpoint, "Folder of the model")->type_name("PATH");
    app.add_option("--untrained", options.untrained, "A model without training in place of it, such as tiny")
        ->type_name("MODEL");
    app.set_version_flag("--version", "vlm " + std::string(totograph::version), "Print the version and stop");
    detail::add_token_options(app, options);
    detail::add_threads(app, options.threads);
    app.add_option("--output", options.output, "Write ids to a file (default, and -: to standard output)")
        ->type_name("PATH");
    app.add_flag("--quiet", options.quiet, "No note about the time that it took");
    if (!detail::parse(app, "vlm", argument_count, arguments, out, "Name the file of prompts")) {
        return std::nullopt;
    }
    check_options(options);
    return options;
}

}  // namespace examples
