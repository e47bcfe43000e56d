// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/explain/explain_words.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/memory_report.hpp>
#include <totograph/exec/cuda/runtime/nvtx.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/cuda/forecaster.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/schedule_programs.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>

// Include it from files that nvcc compiles; the registry that they add to can come from, and go to, any other file.

namespace totograph::serve {

/// How a mode runs on a device.
constexpr cuda::Execution execution_of(Mode mode, cuda::Capture capture = cuda::Capture::whole) {
    switch (mode) {
        case Mode::eager: return {.capture = cuda::Capture::none, .tunes = false, .overlaps = false, .waits = true};
        case Mode::standard: return {.capture = cuda::Capture::none, .tunes = false};
        case Mode::reduce_overhead: return {.capture = capture, .tunes = false};
        case Mode::max_autotune_no_cudagraphs: return {.capture = cuda::Capture::none};
        case Mode::max_autotune: return {.capture = capture};
    }
    return {};
}

namespace detail {

/// A forecaster on a device behind the interface.
template <class Forecaster>
class DeviceForecaster final : public BucketForecaster {
public:
    template <class Weights>
    DeviceForecaster(const Weights& weights, const cuda::ForecasterResources& resources)
        : forecaster_(weights, resources) {}

    Forecast forecast(const Series& series, const ForecastOptions& options) override {
        const cuda::NvtxRange range("totograph forecast");
        return forecaster_.forecast(series, options);
    }
    cuda::DeviceForecast forecast_on(void* stream, const Series& series, const ForecastOptions& options) override {
        const cuda::NvtxRange range("totograph forecast");
        return forecaster_.forecast_on(static_cast<cudaStream_t>(stream), series, options);
    }
    cuda::DeviceForecast forecast_on(void* stream, const cuda::DeviceSeries& series,
                                     const ForecastOptions& options) override {
        const cuda::NvtxRange range("totograph forecast");
        return forecaster_.forecast_on(static_cast<cudaStream_t>(stream), series, options);
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return forecaster_.memory_bytes(); }
    [[nodiscard]] Index captures() const override { return static_cast<Index>(forecaster_.captures()); }
    [[nodiscard]] Index replays() const noexcept override { return forecaster_.last_replays(); }

private:
    Forecaster forecaster_;
};

/// What was compiled for a bucket on a device.
struct CompiledDeviceBucket {
    Bucket bucket;
    ForecastPlan plan;
    std::unique_ptr<BucketForecaster> (*make)(const Weights& weights, const cuda::ForecasterResources& resources);
    Explanation (*explain)(cuda::Capture capture);
    cuda::Precision precision = cuda::Precision::bf16;
};

/// What one of a forecaster's programs launches, in numbers.
inline ProgramSummary summary_of(const cuda::explain_detail::LaunchList& list, std::string name, Index runs) {
    const ProgramTables& tables = list.tables();
    const StepFacts facts = list.facts();
    ProgramSummary program;
    program.name = std::move(name);
    program.runs = runs;
    program.recorded_nodes = tables.recorded_nodes;
    program.nodes = static_cast<Index>(tables.nodes.size());
    program.kernels = static_cast<Index>(tables.kernels.size());
    program.steps = static_cast<Index>(tables.steps.size());
    program.launches = static_cast<Index>(list.launches().size());
    program.flops = facts.flops;
    program.bytes = facts.bytes_read + facts.bytes_written;
    program.weight_bytes = static_cast<Index>(list.weight_bytes());
    return program;
}

template <class Model, Bucket bucket, cuda::ForecasterOptions options>
CompiledDeviceBucket compiled_device_bucket() {
    using Forecaster = cuda::Forecaster<Model, bucket, options>;
    return {
        bucket,
        forecast_plan<Model, bucket>(),
        [](const Weights& weights, const cuda::ForecasterResources& resources) -> std::unique_ptr<BucketForecaster> {
            return std::make_unique<DeviceForecaster<Forecaster>>(WeightsOf<Model>{weights}, resources);
        },
        [](cuda::Capture capture) {
            constexpr cuda::MemoryReport memory = Forecaster::memory();
            constexpr ForecastPlan plan = forecast_plan<Model, bucket>();
            Explanation explanation;
            explanation.bucket = bucket;
            SchedulePrograms<Model, bucket>::for_each([&]<std::size_t which>() {
                explanation.programs.push_back(summary_of(Forecaster::template launch_list<which>(),
                                                          std::string(plan.names[which]),
                                                          plan.runs(which, bucket.horizon)));
            });
            explanation.shared_weight_bytes = memory.weights;
            explanation.state_bytes = memory.caches + memory.states + memory.result;
            explanation.cache_bytes = memory.caches;
            explanation.arena_bytes = memory.arena;
            explanation.workspace_bytes = memory.workspace;
            explanation.graph_launches = Forecaster::planned_replays(capture);
            return explanation;
        },
        options.precision,
    };
}

}  // namespace detail

/// The CUDA executor behind a name; `add_cuda_backend` makes one. All modes run the same fused kernels and give the
/// same samples to the bit, but that those which tune may take other algorithms for GEMMs, which round in another
/// way.
class CudaBackend final : public Backend {
public:
    /// @param capture  how the modes that replay graphs capture them
    CudaBackend(std::string name, Weights weights, std::vector<detail::CompiledDeviceBucket> compiled,
                cuda::Capture capture)
        : name_(std::move(name)), weights_(std::move(weights)), compiled_(std::move(compiled)), capture_(capture) {}

    [[nodiscard]] std::string_view name() const override { return name_; }

    [[nodiscard]] std::string_view precision() const override {
        return compiled_.empty() ? std::string_view() : cuda::name(compiled_.front().precision);
    }

    [[nodiscard]] std::vector<Bucket> buckets() const override {
        std::vector<Bucket> buckets;
        for (const detail::CompiledDeviceBucket& one : compiled_) {
            buckets.push_back(one.bucket);
        }
        return buckets;
    }

    [[nodiscard]] std::string describe(Mode mode) const override {
        const std::string graph = capture_ == cuda::Capture::regional      ? "a graph for each layer"
                                  : capture_ == cuda::Capture::device_loop ? "one graph with a loop on the device"
                                                                           : "one graph";
        switch (mode) {
            case Mode::eager: return "the fused kernels one by one, each waited for: errors show where they happen";
            case Mode::standard: return "the fused kernels, launched by the host; cuBLASLt's first choice for GEMMs";
            case Mode::reduce_overhead: return graph + ", replayed; cuBLASLt's first choice for GEMMs";
            case Mode::max_autotune: return graph + ", replayed; GEMMs tuned by measurement";
            case Mode::max_autotune_no_cudagraphs:
                return "the fused kernels, launched by the host; GEMMs tuned by measurement";
        }
        return {};
    }

    [[nodiscard]] std::string unavailable(const BackendResources& resources) const override {
        try {
            const cuda::CurrentDevice current(resources.device);
            (void)cuda::describe_device(resources.device);
            return {};
        } catch (const Error& error) {
            return error.what();
        }
    }

    [[nodiscard]] std::string runs_on(const BackendResources& resources) const override {
        int driver = 0;
        cuda::check(cudaDriverGetVersion(&driver), "asking for the driver's version");
        return cuda::describe_device(resources.device).name + ", driver " + std::to_string(driver);
    }

    [[nodiscard]] std::unique_ptr<BucketForecaster> make(const Bucket& bucket, Mode mode,
                                                         const BackendResources& resources) const override {
        return find(bucket).make(weights_, {.device = resources.device, .execution = execution_of(mode, capture_)});
    }

    [[nodiscard]] ForecastPlan plan(const Bucket& bucket) const override { return find(bucket).plan; }

    void wait_stream(int device, void* stream, void* other) const override {
        const cuda::CurrentDevice current(device);
        const cuda::Event reached(false);
        reached.record(static_cast<cudaStream_t>(other));
        cuda::check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), reached.get(), 0),
                    "letting a stream wait for another one");
    }

    [[nodiscard]] Explanation explain(const Bucket& bucket, Mode mode) const override {
        const detail::CompiledDeviceBucket& compiled = find(bucket);
        Explanation explanation = compiled.explain(execution_of(mode, capture_).capture);
        explanation.backend = name_;
        explanation.mode = serve::name(mode);
        return explanation;
    }

private:
    [[nodiscard]] const detail::CompiledDeviceBucket& find(const Bucket& bucket) const {
        std::string list;
        for (const detail::CompiledDeviceBucket& one : compiled_) {
            if (one.bucket == bucket) {
                return one;
            }
            list += (list.empty() ? "" : "; ") + to_string(one.bucket);
        }
        throw Error(ErrorCode::no_bucket, "The backend " + io::in_quotes(name_) + " has no compiled size " +
                                              to_string(bucket) + "; it has: " + list + ". Compile it as well.");
    }

    std::string name_;
    Weights weights_;
    std::vector<detail::CompiledDeviceBucket> compiled_;
    cuda::Capture capture_;
};

/// Adds the CUDA executor for these buckets. Throws `Error` (`invalid_argument`) when the name is taken. A device is
/// looked for only when a forecaster is made.
template <class Model, cuda::ForecasterOptions options, Bucket... buckets>
void add_cuda_backend(BackendRegistry& registry, const WeightsOf<Model>& weights, std::string name = "cuda",
                      cuda::Capture capture = cuda::Capture::whole) {
    static_assert(sizeof...(buckets) > 0, "totograph: a CUDA backend needs at least one bucket.");
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        registry.add(std::make_shared<const CudaBackend>(
            std::move(name), weights.weights,
            std::vector<detail::CompiledDeviceBucket>{
                detail::compiled_device_bucket<Model, buckets_by_cost<Model, buckets...>[i], options>()...},
            capture));
    }
    (std::make_index_sequence<sizeof...(buckets)>());
}

/// The same with default options.
template <class Model, Bucket... buckets>
void add_cuda_backend(BackendRegistry& registry, const WeightsOf<Model>& weights, std::string name = "cuda",
                      cuda::Capture capture = cuda::Capture::whole) {
    add_cuda_backend<Model, cuda::ForecasterOptions{}, buckets...>(registry, weights, std::move(name), capture);
}

}  // namespace totograph::serve
