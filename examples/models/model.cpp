// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/demo_1_0.hpp>
#include <totograph/serve/mode.hpp>

#include "sizes.hpp"

namespace examples {

namespace fs = std::filesystem;

ModelKind kind_of(const fs::path& checkpoint) {
    const fs::path config = totograph::io::find_checkpoint(checkpoint).config;
    if (config.empty()) {
        return ModelKind::open_base;
    }
    const totograph::io::ModelConfig file(config);
    const bool is_demo =
        file.contains("embed_dim") && file.integer("embed_dim") == totograph::toto1::demo_1_0::config.embed_dim;
    return is_demo ? ModelKind::demo : ModelKind::open_base;
}

ModelSizes most_of(ModelKind kind) {
    const totograph::Bucket& largest = kind == ModelKind::demo ? demo_long : open_base_long;
    return {.context = largest.context,
            .horizon = largest.horizon,
            .variates = largest.variates,
            .known = largest.exogenous};
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

void add_backends(totograph::serve::BackendRegistry& registry, const fs::path& checkpoint) {
    const bool is_demo = kind_of(checkpoint) == ModelKind::demo;
    (is_demo ? add_demo : add_open_base)(registry, checkpoint);
#ifdef TOTOGRAPH_EXAMPLES_CUDA
    (is_demo ? add_demo_cuda : add_open_base_cuda)(registry, checkpoint);
#endif
}

void check_weights(const fs::path& checkpoint) {
    (kind_of(checkpoint) == ModelKind::demo ? check_demo_weights : check_open_base_weights)(checkpoint);
}

namespace {

/// A model behind a backend. A forecaster is made for the bucket that a request needs and not for all of them, which
/// keeps the memory to what is used.
class BackendModel final : public AnyModel {
public:
    BackendModel(totograph::Index patch_size, const ModelSizes& most,
                 std::shared_ptr<const totograph::serve::Backend> backend)
        : patch_size_(patch_size), most_(most), backend_(std::move(backend)) {}

    [[nodiscard]] totograph::Index patch_size() const override { return patch_size_; }
    [[nodiscard]] ModelSizes most() const override { return most_; }

    [[nodiscard]] std::unique_ptr<AnyForecaster> forecaster(const totograph::Series& series,
                                                            const totograph::ForecastOptions& options,
                                                            int threads) const override {
        const std::vector<totograph::Bucket> buckets = backend_->buckets();
        const std::size_t which =
            totograph::choose_bucket(buckets, series, options, totograph::samples_by_default(buckets));
        return backend_->make(buckets[which], totograph::serve::effective_mode(totograph::serve::Mode::standard),
                              {.threads = threads});
    }

private:
    totograph::Index patch_size_;
    ModelSizes most_;
    std::shared_ptr<const totograph::serve::Backend> backend_;
};

}  // namespace

std::unique_ptr<AnyModel> open_model(const fs::path& checkpoint) {
    totograph::serve::BackendRegistry backends;
    add_backends(backends, checkpoint);
    const ModelKind kind = kind_of(checkpoint);
    const totograph::Index patch_size = kind == ModelKind::demo ? totograph::toto1::demo_1_0::config.patch_size
                                                                : totograph::toto1::open_base_1_0::config.patch_size;
    return std::make_unique<BackendModel>(patch_size, most_of(kind), backends.get("cpu"));
}

}  // namespace examples
