// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/results/quantile_samples.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/text.hpp>
#include <totograph/package/interface/scatter.hpp>
#include <totograph/package/interface/structures.hpp>
#include <totograph/package/packaged_model.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service.hpp>

// What the handles of the C interface stand for, in the package.

struct totograph_model {
    const totograph::package::PackagedModel& compiled;
    totograph::serve::BackendRegistry backends;
};

struct totograph_service {
    totograph::serve::ForecastService service;
    std::shared_ptr<const totograph::serve::Backend> backend{};  ///< The one that serves.
    std::int32_t device = 0;
};

struct totograph_forecast {
    totograph::Forecast forecast;
    std::uint32_t first_series = 0;  ///< Names the draws of a forecast of quantiles.
};

namespace totograph::package {

/// The model of this package that a checkpoint is of. Throws `Error`: that of the comparison where there is one model
/// alone, else `config_mismatch` that lists them.
inline const PackagedModel& model_for(const std::filesystem::path& checkpoint) {
    const auto models = packaged_models();
    const std::filesystem::path config = io::find_checkpoint(checkpoint).config;
    if (models.size() == 1) {
        return *models.front();  // its `load` compares, where there is a config.json
    }
    std::string names;
    for (const PackagedModel* const one : models) {
        names += (names.empty() ? "" : ", ") + std::string(one->name);
    }
    if (config.empty()) {
        throw Error(ErrorCode::config_mismatch,
                    "The checkpoint " + io::in_quotes(checkpoint.string(), io::longest_quote) +
                        " has no config.json, so which of the package's models it is of is not known (" + names +
                        "). Put its config.json beside it, or use a package of its model alone.");
    }
    const io::ModelConfig file(config);
    for (const PackagedModel* const one : models) {
        try {
            one->check_config(file);
            return *one;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::config_mismatch) {
                throw;
            }
        }
    }
    throw Error(ErrorCode::config_mismatch, "The checkpoint " + io::in_quotes(checkpoint.string(), io::longest_quote) +
                                                " is of none of the package's models, which are " + names +
                                                ". Use a package of its model.");
}

/// A backend with one of its buckets alone.
class OneBucket final : public serve::Backend {
public:
    /// Throws `Error(no_bucket)` when the backend does not have it.
    OneBucket(std::shared_ptr<const serve::Backend> backend, const Bucket& bucket)
        : backend_(std::move(backend)), bucket_(bucket) {
        (void)backend_->plan(bucket_);
    }

    [[nodiscard]] std::string_view name() const override { return backend_->name(); }
    [[nodiscard]] std::vector<Bucket> buckets() const override { return {bucket_}; }
    [[nodiscard]] std::string describe(serve::Mode mode) const override { return backend_->describe(mode); }
    [[nodiscard]] std::unique_ptr<serve::BucketForecaster> make(
        const Bucket& bucket, serve::Mode mode, const serve::BackendResources& resources) const override {
        return backend_->make(bucket, mode, resources);
    }
    [[nodiscard]] ForecastPlan plan(const Bucket& bucket) const override { return backend_->plan(bucket); }
    void wait_stream(int device, void* stream, void* other) const override {
        backend_->wait_stream(device, stream, other);
    }
    [[nodiscard]] serve::Explanation explain(const Bucket& bucket, serve::Mode mode) const override {
        return backend_->explain(bucket, mode);
    }

private:
    std::shared_ptr<const serve::Backend> backend_;
    Bucket bucket_;
};

inline std::unique_ptr<totograph_service> make_service(const totograph_model& model,
                                                       const totograph_service_options& given) {
    serve::BackendRegistry backends = model.backends;
    if (given.only != nullptr) {
        const Bucket only = bucket_of(read_structure(given.only, "totograph_bucket"));
        backends = {};
        backends.add(std::make_shared<const OneBucket>(model.backends.all().front(), only));
    }
    serve::ServiceOptions options{.reads_backend_of_environment = false,
                                  .resources = {.threads = given.threads, .device = given.device}};
    if (given.mode != nullptr) {
        options.mode = serve::mode_of(given.mode);
        options.reads_mode_of_environment = given.only == nullptr;
    }
    // NOLINTNEXTLINE(modernize-make-unique): clang 14 makes no aggregate in it
    return std::unique_ptr<totograph_service>(
        new totograph_service{.service = serve::ForecastService(backends, options),
                              .backend = backends.all().front(),
                              .device = given.device});
}

/// Samples of any forecast that has or can draw them, row-major.
inline void write_samples(const totograph_forecast& from, std::uint64_t count, std::uint64_t seed,
                          std::span<float> to) {
    const Forecast& forecast = from.forecast;
    if (!forecast.levels().empty()) {
        const auto drawn =
            sample_quantiles(forecast, static_cast<Index>(count), {.seed = seed, .first_series = from.first_series});
        std::copy(drawn.begin(), drawn.end(), to.begin());
        return;
    }
    const std::span<const float> samples = forecast.samples();
    if (samples.size() != to.size()) {
        throw Error(ErrorCode::invalid_argument, "The forecast has " + std::to_string(forecast.sample_count()) +
                                                     " samples, but " + std::to_string(count) +
                                                     " were asked for; ask for as many as it has.");
    }
    std::copy(samples.begin(), samples.end(), to.begin());
}

/// The extents of a forecast's points.
inline std::array<Index, 3> points_of(const Forecast& forecast) {
    return {forecast.batch(), forecast.variates(), forecast.horizon()};
}

}  // namespace totograph::package
