// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/package/interface/explanation_json.hpp>
#include <totograph/package/interface/structures.hpp>
#include <totograph/package/loaded_functions.hpp>
#include <totograph/package/series_for_package.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::package {

/// A checkpoint that a package opened.
class LoadedModel {
public:
    /// Throws what the package reports.
    LoadedModel(std::shared_ptr<const LoadedFunctions> functions, const std::filesystem::path& checkpoint)
        : functions_(std::move(functions)) {
        totograph_error error = TOTOGRAPH_ERROR_INIT;
        LoadedFunctions::check(functions_->model_open(checkpoint.c_str(), &handle_, &error), error);
    }
    LoadedModel(const LoadedModel&) = delete;
    LoadedModel& operator=(const LoadedModel&) = delete;
    ~LoadedModel() { functions_->model_close(handle_); }

    [[nodiscard]] const LoadedFunctions& functions() const noexcept { return *functions_; }
    [[nodiscard]] const totograph_model* handle() const noexcept { return handle_; }

    [[nodiscard]] totograph_model_facts facts() const {
        totograph_error error = TOTOGRAPH_ERROR_INIT;
        auto facts = sized<totograph_model_facts>();
        LoadedFunctions::check(functions_->model_describe(handle_, &facts, &error), error);
        return facts;
    }

    [[nodiscard]] std::vector<Bucket> buckets() const {
        std::vector<Bucket> buckets;
        for (std::uint64_t i = 0, count = facts().buckets; i < count; ++i) {
            totograph_error error = TOTOGRAPH_ERROR_INIT;
            auto bucket = sized<totograph_bucket>();
            LoadedFunctions::check(functions_->model_bucket(handle_, i, &bucket, &error), error);
            buckets.push_back(bucket_of(bucket));
        }
        return buckets;
    }

private:
    std::shared_ptr<const LoadedFunctions> functions_;
    totograph_model* handle_ = nullptr;
};

/// A forecaster of one bucket of a package.
class PackageForecaster final : public serve::BucketForecaster {
public:
    PackageForecaster(std::shared_ptr<const LoadedModel> model, const Bucket& bucket, serve::Mode mode,
                      const serve::BackendResources& resources)
        : model_(std::move(model)), bucket_(bucket) {
        const totograph_bucket only = c_bucket(bucket);
        const std::string name(serve::name(mode));
        const totograph_service_options options{.size = sizeof options,
                                                .mode = name.c_str(),
                                                .threads = resources.threads,
                                                .device = resources.device,
                                                .only = &only};
        totograph_error error = TOTOGRAPH_ERROR_INIT;
        const LoadedFunctions& functions = model_->functions();
        LoadedFunctions::check(functions.service_create(model_->handle(), &options, &service_, &error), error);
        if (const auto status = functions.service_warm_up(service_, 0, &error); status != TOTOGRAPH_OK) {
            functions.service_destroy(service_);
            LoadedFunctions::check(status, error);
        }
    }
    PackageForecaster(const PackageForecaster&) = delete;
    PackageForecaster& operator=(const PackageForecaster&) = delete;
    ~PackageForecaster() override {
        model_->functions().forecast_release(forecast_);
        model_->functions().service_destroy(service_);
    }

    Forecast forecast(const Series& series, const ForecastOptions& options) override {
        const LoadedFunctions& functions = model_->functions();
        functions.forecast_release(std::exchange(forecast_, nullptr));  // its memory serves the next one
        const totograph_series given = c_series(series, options, bucket_);
        const totograph_request request = c_request(options);
        totograph_error error = TOTOGRAPH_ERROR_INIT;
        LoadedFunctions::check(functions.service_forecast(service_, &given, &request, &forecast_, &error), error);
        auto facts = sized<totograph_forecast_facts>();
        LoadedFunctions::check(functions.forecast_describe(forecast_, &facts, &error), error);
        const std::span<const double> levels(facts.levels, facts.level_count);
        const Index values = facts.samples > 0 ? facts.samples : levels.empty() ? 1 : static_cast<Index>(levels.size());
        const std::span<const float> all(
            facts.values, static_cast<std::size_t>(facts.batch * facts.variates * facts.horizon * values));
        return Forecast(all, facts.batch, facts.variates, facts.horizon, facts.samples, facts.not_finite, levels)
            .with_context(facts.context);
    }

    cuda::DeviceForecast forecast_on(void* stream, const Series& series, const ForecastOptions& options) override {
        return put_on(stream, c_series(series, options, bucket_), 0, used_sizes(series, options, bucket_), options);
    }
    cuda::DeviceForecast forecast_on(void* stream, const cuda::DeviceSeries& series,
                                     const ForecastOptions& options) override {
        return put_on(stream, c_series(series, options, bucket_), TOTOGRAPH_SERIES_ON_DEVICE,
                      used_sizes(series.series, options, bucket_), options);
    }

    [[nodiscard]] std::size_t memory_bytes() const override {
        return static_cast<std::size_t>(model_->functions().service_memory(service_));
    }

private:
    cuda::DeviceForecast put_on(void* stream, const totograph_series& given, std::uint32_t flags, const Bucket& used,
                                const ForecastOptions& options) {
        const LoadedFunctions& functions = model_->functions();
        const totograph_request request = c_request(options);
        totograph_error error = TOTOGRAPH_ERROR_INIT;
        totograph_device_forecast made = TOTOGRAPH_DEVICE_FORECAST_INIT;
        LoadedFunctions::check(functions.service_forecast_on(service_, stream, &given, &request, flags, &made, &error),
                               error);
        return {.data = made.values, .request = used, .values = made.value_count, .not_finite = made.not_finite};
    }

    std::shared_ptr<const LoadedModel> model_;
    Bucket bucket_;
    totograph_service* service_ = nullptr;
    totograph_forecast* forecast_ = nullptr;
};

/// The executors of a package behind a name.
class PackageBackend final : public serve::Backend {
public:
    /// @param is_on_device  of a package for CUDA
    /// @param runs_on   what `runs_on` tells; empty where that is not known.
    PackageBackend(std::string name, bool is_on_device, std::shared_ptr<const LoadedModel> model, std::string runs_on)
        : name_(std::move(name)),
          is_on_device_(is_on_device),
          model_(std::move(model)),
          buckets_(model_->buckets()),
          facts_(model_->facts()),
          runs_on_(std::move(runs_on)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::vector<Bucket> buckets() const override { return buckets_; }
    /// Of a device's package nothing: only its own code could ask the device, and the C interface has no question for
    /// it.
    [[nodiscard]] std::string runs_on(const serve::BackendResources&) const override { return runs_on_; }
    [[nodiscard]] std::string describe(serve::Mode mode) const override {
        return "as the package's own executor does in mode " + std::string(serve::name(mode));
    }
    /// What the package says when it is asked for a service, which builds nothing yet.
    [[nodiscard]] std::string unavailable(const serve::BackendResources& resources) const override {
        const totograph_service_options options{.size = sizeof options,
                                                .mode = nullptr,
                                                .threads = resources.threads,
                                                .device = resources.device,
                                                .only = nullptr};
        totograph_error error = TOTOGRAPH_ERROR_INIT;
        totograph_service* service = nullptr;
        const LoadedFunctions& functions = model_->functions();
        const totograph_status status = functions.service_create(model_->handle(), &options, &service, &error);
        functions.service_destroy(service);
        return status == TOTOGRAPH_OK ? "" : static_cast<const char*>(error.sentence);
    }
    [[nodiscard]] std::unique_ptr<serve::BucketForecaster> make(
        const Bucket& bucket, serve::Mode mode, const serve::BackendResources& resources) const override {
        return std::make_unique<PackageForecaster>(model_, bucket, mode, resources);
    }
    [[nodiscard]] ForecastPlan plan(const Bucket& bucket) const override {
        ForecastPlan plan = ForecastPlan::of(bucket, facts_.patch_size, {facts_.levels, facts_.level_count});
        plan.takes_future_gaps = facts_.takes_future_gaps != 0;
        plan.takes_groups_by_step = facts_.takes_groups_by_step != 0;
        if (is_on_device_) {
            plan.imputation = Imputation::as_given;  // the package has its own, or refuses the series
        }
        return plan;
    }
    /// Refuses: that call of a package is for who has no other way.
    void wait_stream(int /*device*/, void* /*stream*/, void* /*other*/) const override {
        throw Error(ErrorCode::invalid_argument,
                    "A program that loads a package lets its streams wait by itself: cudaStreamWaitEvent.");
    }
    [[nodiscard]] serve::Explanation explain(const Bucket& bucket, serve::Mode mode) const override {
        const totograph_bucket sizes = c_bucket(bucket);
        const std::string mode_name(serve::name(mode));
        totograph_error error = TOTOGRAPH_ERROR_INIT;
        char* text = nullptr;
        const LoadedFunctions& functions = model_->functions();
        LoadedFunctions::check(functions.model_explain(model_->handle(), &sizes, mode_name.c_str(), &text, &error),
                               error);
        const std::unique_ptr<char, decltype(functions.text_free)> owned(text, functions.text_free);
        serve::Explanation explanation = explanation_of(text);
        explanation.backend = name_;
        explanation.mode = mode_name;
        explanation.bucket = bucket;
        return explanation;
    }

private:
    std::string name_;
    bool is_on_device_;
    std::shared_ptr<const LoadedModel> model_;
    std::vector<Bucket> buckets_;
    totograph_model_facts facts_{};
    std::string runs_on_;
};

}  // namespace totograph::package
