// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

#include <totograph/core/error.hpp>
#include <totograph/io/model_config.hpp>
#include <totograph/toto/demo_1_0.hpp>

#include "sizes.hpp"

namespace examples {

namespace fs = std::filesystem;

ModelKind kind_of(const fs::path& checkpoint) {
    const fs::path config = checkpoint / "config.json";
    std::error_code ignored;
    if (!fs::exists(config, ignored)) {
        return ModelKind::open_base;
    }
    const totograph::io::ModelConfig file(config);
    const bool is_demo =
        file.contains("embed_dim") && file.integer("embed_dim") == totograph::toto::demo_1_0::config.embed_dim;
    return is_demo ? ModelKind::demo : ModelKind::open_base;
}

totograph::Index largest_context(ModelKind kind) {
    return kind == ModelKind::demo ? demo_context : open_base_context;
}

totograph::Index largest_variates(ModelKind) {
    return most_variates;
}

totograph::Index variates_at_once(ModelKind kind) {
    return kind == ModelKind::demo ? demo_at_once : most_variates;
}

fs::path demo_checkpoint() {
    std::string tried;
    const auto holds_model = [&](const fs::path& folder) {
        tried += (tried.empty() ? "'" : ", '") + folder.string() + "'";
        std::error_code ignored;
        return fs::exists(folder / "model.safetensors", ignored);
    };
    if (const char* named = std::getenv("TOTOGRAPH_DEMO_MODEL"); named != nullptr && *named != '\0') {
        return named;
    }
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    const fs::path installed = (program.parent_path() / TOTOGRAPH_DEMO_MODEL_FROM_PROGRAM).lexically_normal();
    if (!failed && holds_model(installed)) {
        return installed;
    }
    if (const fs::path folder = TOTOGRAPH_DEMO_MODEL_SOURCE; holds_model(folder)) {
        return folder;
    }
    throw totograph::Error(totograph::ErrorCode::file_not_found,
                           "The demo model was looked for in " + tried +
                               " and is in none of them. Set TOTOGRAPH_DEMO_MODEL to its folder, or name another "
                               "checkpoint with --checkpoint.");
}

ProgramDescription describe(ModelKind kind, const totograph::Series& series,
                            const totograph::ForecastOptions& options) {
    return kind == ModelKind::demo ? describe_demo(series, options) : describe_open_base(series, options);
}

std::unique_ptr<AnyModel> open_model(const fs::path& checkpoint) {
    return kind_of(checkpoint) == ModelKind::demo ? open_demo(checkpoint) : open_open_base(checkpoint);
}

}  // namespace examples
