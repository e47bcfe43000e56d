// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/mode.hpp>

#include "known_models.hpp"

#if __has_include(<elf.h>)
#include <totograph/package/find_package.hpp>
#include <totograph/package/package.hpp>
#include <totograph/package/package_header.hpp>
#define TOTOGRAPH_HAS_PACKAGES 1
#else
#define TOTOGRAPH_HAS_PACKAGES 0
#endif

namespace examples {

namespace fs = std::filesystem;

namespace {

const ListedModel* find_listed(std::string_view name) {
    const std::span<const ListedModel> all = listed_models();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ListedModel& one) { return one.model->model.name == name; });
    return found == all.end() ? nullptr : &*found;
}

/// For a checkpoint of a model that this build leaves out.
[[noreturn]] void refuse_unlisted(const fs::path& checkpoint, const KnownModel& model, bool has_config) {
    std::string titles;
    std::string names;
    for (const KnownModel& one : known_models()) {
        if (find_listed(one.name) != nullptr) {
            titles += (titles.empty() ? "" : ", ") + std::string(one.title);
            names += std::string(one.name) + ";";
        }
    }
    throw totograph::Error(totograph::ErrorCode::config_mismatch,
                           "The checkpoint " +
                               totograph::io::in_quotes(checkpoint.string(), totograph::io::longest_quote) +
                               (has_config ? " is " : " has no config.json, so it was taken for ") +
                               std::string(model.title) + ", but this program was compiled for " + titles + " alone. " +
                               (has_config ? "" : "If it is another one, download its config.json as well. ") +
                               "Build it with -DTOTOGRAPH_PROGRAM_MODELS=\"" + names + std::string(model.name) +
                               "\" to have that model as well.");
}

}  // namespace

namespace {

#if TOTOGRAPH_HAS_PACKAGES
/// What a package says of itself, in short.
std::string package_line(const totograph::PackageHeader& header) {
    return header.name + ", of totograph " + header.version + ", by " + header.compiler;
}
#endif

CheckpointModel model_of_package(const fs::path& checkpoint, const fs::path& place, std::string_view wanted) {
#if TOTOGRAPH_HAS_PACKAGES
    std::error_code ignored;
    if (const char* const named = std::getenv("TOTOGRAPH_BACKEND"); wanted.empty() && named != nullptr) {
        wanted = named;
    }
    const totograph::Package package(
        fs::is_directory(place, ignored)
            ? totograph::find_package(place, checkpoint, wanted.starts_with("cuda") ? "cuda" : "cpu")
            : place);
    totograph::serve::BackendRegistry registry;
    package.add_backend(registry, checkpoint);
    auto backend = registry.all().front();
    const totograph::Bucket largest = backend->buckets().back();
    const std::span<const double> levels = backend->plan(largest).levels;  // which the backend keeps
    const auto& models = package.header().models;
    return {.checkpoint = checkpoint,
            .title = (models.size() == 1 ? models.front().name : "a model") + " of the package " +
                     package_line(package.header()),
            .most = sizes_of(largest),
            .variates_at_once = largest.variates,
            .levels = levels,
            .packaged = std::move(backend)};
#else
    (void)checkpoint;
    (void)wanted;
    throw totograph::Error(totograph::ErrorCode::invalid_argument,
                           "Packages such as " +
                               totograph::io::in_quotes(place.string(), totograph::io::longest_quote) +
                               " are loaded on Linux alone; leave out --package.");
#endif
}

}  // namespace

CheckpointModel model_of(const fs::path& checkpoint, const fs::path& package, std::string_view backend) {
    if (!package.empty()) {
        return model_of_package(checkpoint, package, backend);
    }
    const fs::path config = totograph::io::find_checkpoint(checkpoint).config;
    const auto is_base = [](const KnownModel& one) { return one.name == "open_base"; };
    const KnownModel& known = config.empty() ? *std::find_if(known_models().begin(), known_models().end(), is_base)
                                             : known_model_of(totograph::io::ModelConfig(config));
    const ListedModel* const listed = find_listed(known.name);
    if (listed == nullptr) {
        refuse_unlisted(checkpoint, known, !config.empty());
    }
    return {.checkpoint = checkpoint,
            .title = std::string(known.title),
            .most = sizes_of(listed->model->model.buckets.back()),
            .variates_at_once = listed->model->variates_at_once,
            .levels = listed->model->model.plan.levels,
            .compiled = listed->model,
            .add_cuda_backends = listed->add_cuda_backends};
}

CheckpointModel on_backend(CheckpointModel model, std::string_view backend) {
    if (const char* const named = std::getenv("TOTOGRAPH_BACKEND"); backend.empty() && named != nullptr) {
        backend = named;
    }
    if (model.packaged != nullptr || backend.empty() || backend == "cpu") {
        return model;
    }
    totograph::serve::BackendRegistry registry;
    if (model.add_cuda_backends != nullptr) {
        model.add_cuda_backends(registry, model.checkpoint);
    }
    const auto& all = registry.all();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one->name() == backend; });
    if (found == all.end()) {
        std::string names = "'cpu'";
        for (const auto& one : all) {
            names += ", " + totograph::io::in_quotes(one->name());
        }
        throw totograph::Error(totograph::ErrorCode::invalid_argument,
                               "The backend " + totograph::io::in_quotes(backend, 100) + " does not run " +
                                   model.title + " in this program, which has " + names +
                                   (all.empty() ? "; those of devices come with -DTOTOGRAPH_CUDA=ON." : ".") +
                                   " Name another with --backend or TOTOGRAPH_BACKEND.");
    }
    if (const std::string reason = (*found)->unavailable({}); !reason.empty()) {
        throw totograph::Error(totograph::ErrorCode::device_failure, reason);
    }
    return with_device(std::move(model), *found);
}

const CompiledModel& compiled_in(const CheckpointModel& model, std::string_view option) {
    if (model.compiled == nullptr) {
        throw totograph::Error(totograph::ErrorCode::invalid_argument,
                               std::string(option) +
                                   " explains models that are compiled into this program, and not "
                                   "those of a package; leave out one of the two.");
    }
    return *model.compiled;
}

fs::path demo_checkpoint() {
    std::string tried;
    const auto holds_model = [&](const fs::path& folder) {
        tried += (tried.empty() ? "" : ", ") + totograph::io::in_quotes(folder.string(), totograph::io::longest_quote);
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

void add_backends(totograph::serve::BackendRegistry& registry, const CheckpointModel& model) {
    if (model.packaged != nullptr) {
        registry.add(model.packaged);
        return;
    }
    model.compiled->model.add_backend(registry, model.checkpoint);
    if (model.add_cuda_backends != nullptr) {
        model.add_cuda_backends(registry, model.checkpoint);
    }
}

namespace {

/// A model behind a backend. A forecaster is made for the bucket that a request needs and not for all of them, which
/// keeps the memory to what is used.
class BackendModel final : public AnyModel {
public:
    BackendModel(const ModelSizes& most, std::shared_ptr<const totograph::serve::Backend> backend,
                 std::vector<SessionMaker> sessions = {})
        : most_(most),
          backend_(std::move(backend)),
          plan_(backend_->plan(backend_->buckets().front())),
          sessions_(std::move(sessions)) {}

    [[nodiscard]] totograph::Index patch_size() const override { return plan_.sizes.patch_size; }
    [[nodiscard]] ModelSizes most() const override { return most_; }
    [[nodiscard]] std::span<const double> levels() const override { return plan_.levels; }

    [[nodiscard]] std::unique_ptr<AnyForecaster> forecaster(const totograph::Series& series,
                                                            const totograph::ForecastOptions& options,
                                                            int threads) const override {
        const std::vector<totograph::Bucket> buckets = backend_->buckets();
        const std::size_t which =
            totograph::choose_bucket(buckets, series, options, totograph::samples_by_default(buckets));
        return backend_->make(buckets[which], totograph::serve::effective_mode(totograph::serve::Mode::standard),
                              {.threads = threads});
    }

    [[nodiscard]] std::span<const SessionMaker> sessions() const override { return sessions_; }

private:
    ModelSizes most_;
    std::shared_ptr<const totograph::serve::Backend> backend_;
    totograph::ForecastPlan plan_;
    std::vector<SessionMaker> sessions_;
};

}  // namespace

std::unique_ptr<AnyModel> open_model(const CheckpointModel& model) {
    if (model.packaged != nullptr) {
        return std::make_unique<BackendModel>(model.most, model.packaged);
    }
    if (model.device != nullptr) {
        return std::make_unique<BackendModel>(model.most, model.device);
    }
    totograph::serve::BackendRegistry backends;
    std::vector<SessionMaker> sessions;
    if (model.compiled->add_backend_and_sessions != nullptr) {
        sessions = model.compiled->add_backend_and_sessions(backends, model.checkpoint);
    } else {
        model.compiled->model.add_backend(backends, model.checkpoint);
    }
    return std::make_unique<BackendModel>(model.most, backends.get("cpu"), std::move(sessions));
}

}  // namespace examples
