// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pools.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/schedule_programs.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/unroll.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/cpu_explanation.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/tuning/tuned_threads.hpp>

namespace totograph::serve {

namespace detail {

/// Any forecaster of the CPU behind the interface.
template <class Forecaster>
class CpuForecaster final : public BucketForecaster {
public:
    template <class... Arguments>
    explicit CpuForecaster(Arguments&&... arguments) : forecaster_(std::forward<Arguments>(arguments)...) {}

    Forecast forecast(const Series& series, const ForecastOptions& options) override {
        return forecaster_.forecast(series, options);
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return forecaster_.memory_bytes(); }
    void use_pools(cpu::ThreadPools& pools) override {
        if constexpr (requires { forecaster_.executor().use_pool(nullptr); }) {
            forecaster_.executor().use_pool(pools.get(forecaster_.executor().threads()));
        }
    }

private:
    Forecaster forecaster_;
};

/// Tells programs apart whose forecasts take different time: the bucket, and a checksum of what is computed for it.
std::string program_key(const Bucket& bucket, const FusedFacts& facts);

/// What was compiled for a bucket.
struct CompiledBucket {
    Bucket bucket;
    ForecastPlan plan;
    std::unique_ptr<BucketForecaster> (*make)(const Weights& weights, const ForecasterResources& resources) = nullptr;
    FusedFacts (*facts)() = nullptr;
    RecordedForecast (*record)() = nullptr;
    DType weights = DType::f32;
};

template <class Model, Bucket bucket, ForecasterOptions options>
CompiledBucket compiled_bucket() {
    using Fused = Forecaster<Model, bucket, options>;
    return {
        bucket,
        forecast_plan<Model, bucket>(),
        [](const Weights& weights, const ForecasterResources& resources) -> std::unique_ptr<BucketForecaster> {
            return std::make_unique<CpuForecaster<Fused>>(WeightsOf<Model>{weights}, resources);
        },
        [] {
            std::vector<ProgramTables> programs;
            SchedulePrograms<Model, bucket, options.passes>::for_each([&]<std::size_t which>() {
                programs.push_back(tables_of<typename Fused::template ProgramAt<which>>());
            });
            return FusedFacts{forecast_plan<Model, bucket>(),
                              std::move(programs),
                              options.weights,
                              Fused::weight_bytes,
                              Fused::state_bytes,
                              Fused::kv_cache_bytes,
                              Fused::arena_bytes,
                              Fused::Executor::scratch_floats * sizeof(float)};
        },
        [] { return record_forecast<Model, bucket>(); },
        options.weights,
    };
}

}  // namespace detail

/// The CPU executors behind a name; `add_cpu_backend` makes one. Mode `eager` runs the recorded nodes on one thread,
/// all others the fused program. Those that tune measure, when a forecaster is made, with how many threads it is
/// fastest, one at a time in a process; the choice is kept for the next one of the bucket, and in a file of
/// `io::cache_folder()` for other processes. Results are the same to the bit in all modes but `eager`.
class CpuBackend final : public Backend {
public:
    CpuBackend(std::string name, Weights weights, std::vector<detail::CompiledBucket> compiled)
        : name_(std::move(name)), weights_(std::move(weights)), compiled_(std::move(compiled)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }

    [[nodiscard]] std::vector<Bucket> buckets() const override;

    /// Of the weights.
    [[nodiscard]] std::string_view precision() const override {
        return compiled_.empty() ? std::string_view() : totograph::name(compiled_.front().weights);
    }

    [[nodiscard]] std::string runs_on(const BackendResources&) const override { return "the processor"; }

    [[nodiscard]] std::string describe(Mode mode) const override;

    [[nodiscard]] std::unique_ptr<BucketForecaster> make(const Bucket& bucket, Mode mode,
                                                         const BackendResources& resources) const override;

    [[nodiscard]] ForecastPlan plan(const Bucket& bucket) const override { return compiled_[find(bucket)].plan; }

    /// The workspace is that of `default_threads()`, or of as many as were measured to be fastest of them.
    [[nodiscard]] Explanation explain(const Bucket& bucket, Mode mode) const override;

private:
    static bool is_tuned(Mode mode) noexcept {
        return mode == Mode::max_autotune || mode == Mode::max_autotune_no_cudagraphs;
    }

    void require_mode(Mode mode) const;

    [[nodiscard]] std::size_t find(const Bucket& bucket) const;

    [[nodiscard]] std::unique_ptr<BucketForecaster> make_fused(const detail::CompiledBucket& compiled, int threads,
                                                               const BackendResources& resources) const {
        return compiled.make(weights_,
                             {.threads = threads, .pool = resources.pools ? resources.pools->get(threads) : nullptr});
    }

    [[nodiscard]] std::unique_ptr<BucketForecaster> make_tuned(std::size_t which, int most,
                                                               const BackendResources& resources) const;

    void log_program(const Bucket& bucket, const detail::CompiledBucket& compiled, Mode mode) const;

    std::string name_;
    Weights weights_;
    std::vector<detail::CompiledBucket> compiled_;
    mutable detail::TunedThreads tuned_;
};

namespace detail {

template <class Model, ForecasterOptions options, Bucket... buckets>
std::shared_ptr<const CpuBackend> cpu_backend(const WeightsOf<Model>& weights, std::string name) {
    static_assert(sizeof...(buckets) > 0, "totograph: a CPU backend needs at least one bucket.");
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        constexpr const auto& sorted = buckets_by_cost<Model, buckets...>;
        return std::make_shared<const CpuBackend>(
            std::move(name), weights.weights,
            std::vector<CompiledBucket>{compiled_bucket<Model, sorted[i], options>()...});
    }
    (std::make_index_sequence<sizeof...(buckets)>());
}

}  // namespace detail

/// Adds the CPU executors for these buckets. Throws `Error` (`invalid_argument`) when the name is taken.
template <class Model, Bucket... buckets>
void add_cpu_backend(BackendRegistry& registry, const WeightsOf<Model>& weights, std::string name = "cpu") {
    registry.add(detail::cpu_backend<Model, ForecasterOptions{}, buckets...>(weights, std::move(name)));
}

/// The same with options of the fused forecasters, such as weights in bf16.
template <class Model, ForecasterOptions options, Bucket... buckets>
void add_cpu_backend(BackendRegistry& registry, const WeightsOf<Model>& weights, std::string name = "cpu") {
    registry.add(detail::cpu_backend<Model, options, buckets...>(weights, std::move(name)));
}

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/backends/impl/cpu_backend.hpp>
#endif
