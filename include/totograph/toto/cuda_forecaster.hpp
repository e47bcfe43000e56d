// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/bucket.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/series.hpp>
#include <totograph/exec/cuda/collect.hpp>
#include <totograph/exec/cuda/device.hpp>
#include <totograph/exec/cuda/executor.hpp>
#include <totograph/exec/cuda/explain.hpp>
#include <totograph/exec/cuda/memory.hpp>
#include <totograph/exec/cuda/stream.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/toto/checkpoint.hpp>
#include <totograph/toto/input_states.hpp>
#include <totograph/toto/programs.hpp>
#include <totograph/toto/request.hpp>
#include <totograph/toto/rewrites.hpp>
#include <totograph/toto/states.hpp>

namespace totograph::cuda {

/// What is decided when a forecaster is compiled.
struct ForecasterOptions {
    Precision precision = Precision::bf16;
    Passes passes{};
    toto::Rewrites rewrites{};

    friend constexpr bool operator==(const ForecasterOptions&, const ForecasterOptions&) = default;
};

/// What is decided when a forecaster is made.
struct ForecasterResources {
    int device = 0;
};

/// A result that stays on the device: `[batch, variates, horizon, samples]` of the whole bucket, without the last axis
/// for a forecast of the mean. Valid until the forecaster's next forecast, once what was put on the stream has run.
struct DeviceForecast {
    const float* values = nullptr;
    Bucket bucket;
};

/// Forecasts requests that fit one bucket, on a CUDA device. A forecast is one copy in, one replay of a CUDA graph and
/// one copy out. One thread at a time may use it; several forecasters may run at the same time, each on its stream.
template <toto::Toto1Model Model, Bucket bucket, ForecasterOptions options = ForecasterOptions{}>
class Forecaster {
    static_assert(toto::check_bucket<Model, bucket>());
    static_assert(bucket.batch * bucket.variates <= 65535,
                  "totograph: the CUDA executor takes at most 65,535 variates of all series of a bucket together.");
    static constexpr bool has_cache = options.rewrites.kv_cache;

public:
    /// The program that begins a forecast, and the one that each further patch takes.
    using Begin = Program<std::conditional_t<has_cache, toto::Prefill<Model, bucket, options.rewrites>,
                                             toto::BeginHistory<Model, bucket, options.rewrites>>,
                          options.passes>;
    using Continue = Program<std::conditional_t<has_cache, toto::Decode<Model, bucket, options.rewrites>,
                                                toto::Recompute<Model, bucket, options.rewrites>>,
                             options.passes>;
    using Executor = cuda::Executor<options.precision, Begin, Continue>;

    static constexpr toto::ForecastSizes sizes{Model::config, bucket};
    static constexpr std::size_t result_size =
        static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.horizon * sizes.samples);

    /// Prepares the weights (once for all forecasters that share them), all memory that forecasts need, and the graphs.
    /// Throws `Error` when there is no usable device or not enough memory on it.
    explicit Forecaster(const toto::ModelWeights<Model>& weights, ForecasterResources resources = {})
        : Forecaster(weights, resources.device, CurrentDevice(resources.device)) {}

    /// Forecasts the steps after the series and waits for the result, a view of this forecaster's memory, valid until
    /// its next forecast. Allocates nothing. Throws `Error` (before anything runs) when the request is malformed or
    /// does not fit.
    Forecast forecast(const Series& series, const ForecastOptions& request_options = {}) {
        const Bucket request = enqueue(series, request_options, stream_.get());
        stream_.synchronize();
        return collect(request);
    }

    /// Puts a forecast onto a stream of the caller's and returns at once. The result stays on the device. The series
    /// has been read when this returns. The forecast before this one must have finished: its inputs and its result are
    /// overwritten. Values beyond a request that is smaller than the bucket mean nothing.
    DeviceForecast forecast_on(cudaStream_t stream, const Series& series, const ForecastOptions& request_options = {}) {
        enqueue(series, request_options, stream);
        return {reinterpret_cast<const float*>(result_.data()), bucket};
    }

    /// Writes a request to the staging memory. `forecast` does this, after it has checked the request: here nothing is
    /// checked.
    void fill(const Series& series, const Bucket& request, std::uint64_t seed) noexcept {
        const auto state = [this](std::string_view name) -> void* {
            const std::ptrdiff_t offset = Executor::input_offset(name);
            return offset < 0 ? nullptr : staged_.data() + offset;
        };
        toto::InputStates(sizes, state).fill(series, request, seed);
    }

    /// Runs one program alone and waits, for those who look inside: the first after the inputs have been copied.
    template <std::size_t which>
    void run() {
        const CurrentDevice current(device_.index);
        if constexpr (which == 0) {
            copy_inputs(stream_.get());
        }
        executor_.template launch<which>(stream_.get());
        stream_.synchronize();
    }

    /// Replays the beginning of a forecast (the inputs as they are) and waits: for benchmarks.
    void replay_begin() {
        const CurrentDevice current(device_.index);
        (begin_ ? begin_ : whole_).launch(stream_.get());
        stream_.synchronize();
    }
    /// The content of a state, copied to the host. Throws `Error` when no program has a state of this name.
    template <class T>
    [[nodiscard]] std::vector<T> read_state(std::string_view name, int layer = -1) const {
        const auto* entry = find_state(name, layer);
        std::vector<T> values(static_cast<std::size_t>(entry->slot.shape.size()));
        check_element<T>(name, *entry, values.size());
        const CurrentDevice current(device_.index);
        check(cudaMemcpyAsync(values.data(), executor_.state(name, layer), values.size() * sizeof(T),
                              cudaMemcpyDeviceToHost, stream_.get()),
              "reading a state");
        stream_.synchronize();
        return values;
    }
    /// Overwrites a state. Throws `Error` when no program has a state of this name, or it has another size or type.
    template <class T>
    void write_state(std::string_view name, const std::vector<T>& values, int layer = -1) {
        check_element<T>(name, *find_state(name, layer), values.size());
        const CurrentDevice current(device_.index);
        check(cudaMemcpyAsync(executor_.state(name, layer), values.data(), values.size() * sizeof(T),
                              cudaMemcpyHostToDevice, stream_.get()),
              "writing a state");
        stream_.synchronize();
    }

    /// Bytes on the device beside the shared weights: states, intermediates, workspace, result. Known when compiled.
    static constexpr std::size_t device_bytes() { return Executor::memory_bytes() + result_size * sizeof(float); }
    /// What both programs launch, as tables.
    static std::string explain() {
        constexpr bool streams = Executor::streams;
        return "bucket " + to_string(bucket) + "\n" + "  device memory  " +
               totograph::detail::bytes_text(device_bytes()) + " beside the weights\n\n" +
               explain_launches<Begin, streams>(has_cache ? "prefill" : "begin") + "\n" +
               explain_launches<Continue, streams>(has_cache ? "decode" : "recompute");
    }

    /// Copies and kernels in the graph of a whole forecast.
    [[nodiscard]] std::size_t graph_nodes() const noexcept { return whole_.node_count(); }
    [[nodiscard]] Executor& executor() noexcept { return executor_; }

private:
    /// While the device is current.
    Forecaster(const toto::ModelWeights<Model>& weights, int device, const CurrentDevice&)
        : device_(describe_device(device)),
          executor_(weights.weights, device_),
          staged_(Executor::States::input_bytes),
          result_(result_size * sizeof(float)),
          host_result_(result_size * sizeof(float)),
          compacted_(result_size) {
        executor_.poison(stream_.get());
        whole_ = ReplayableGraph(stream_, [&](cudaStream_t stream) {
            record_begin(stream);
            for (Index patch = first_patch; patch < sizes.steps; ++patch) {
                executor_.template launch<1>(stream);
            }
            record_end(stream);
        });
        if (sizes.steps > 1) {
            begin_ = ReplayableGraph(stream_, [&](cudaStream_t stream) { record_begin(stream); });
            step_ = ReplayableGraph(stream_, [&](cudaStream_t stream) { executor_.template launch<1>(stream); });
            end_ = ReplayableGraph(stream_, [&](cudaStream_t stream) { record_end(stream); });
        }
        stream_.synchronize();
    }

    static constexpr Index first_patch = has_cache ? 1 : 0;

    static const auto* find_state(std::string_view name, int layer) {
        const auto* entry = Executor::Layout::find(name, layer);
        if (entry == nullptr) {
            throw Error(ErrorCode::invalid_argument, "cuda: no program of this forecaster has a state '" +
                                                         std::string(name) + "'; see toto/states.hpp for names.");
        }
        return entry;
    }

    template <class T, class Entry>
    static void check_element(std::string_view state, const Entry& entry, std::size_t size) {
        if (dtype_of<T> != entry.slot.dtype || size != static_cast<std::size_t>(entry.slot.shape.size())) {
            throw Error(ErrorCode::invalid_argument,
                        "cuda: the state '" + std::string(state) + "' is " + std::string(name(entry.slot.dtype)) + " " +
                            to_string(entry.slot.shape) + ", but " + std::to_string(size) + " elements of " +
                            std::string(name(dtype_of<T>)) + " were given; use its own type and size.");
        }
    }

    void copy_inputs(cudaStream_t stream) const {
        check(cudaMemcpyAsync(executor_.inputs(), staged_.data(), Executor::States::input_bytes, cudaMemcpyHostToDevice,
                              stream),
              "copying the inputs");
    }

    void record_begin(cudaStream_t stream) const {
        copy_inputs(stream);
        executor_.template launch<0>(stream);
    }

    void record_end(cudaStream_t stream) const {
        const dim3 tiles(static_cast<unsigned>(divide_rounding_up(bucket.horizon, collect_tile)),
                         static_cast<unsigned>(divide_rounding_up(sizes.samples, collect_tile)),
                         static_cast<unsigned>(bucket.batch * bucket.variates));
        collect_kernel<sizes.samples, bucket.variates, sizes.steps * sizes.patch_size, bucket.horizon>
            <<<tiles, block_threads, 0, stream>>>(
                reinterpret_cast<const float*>(executor_.state(toto::states::forecast)),
                reinterpret_cast<float*>(result_.data()));
        check(cudaGetLastError(), "launching a kernel");
        check(cudaMemcpyAsync(host_result_.data(), result_.data(), result_size * sizeof(float), cudaMemcpyDeviceToHost,
                              stream),
              "copying the result");
    }

    Bucket enqueue(const Series& series, const ForecastOptions& request_options, cudaStream_t stream) {
        const Bucket request = toto::request_sizes(series, request_options, bucket);
        toto::check_request(series, request);
        toto::check_groups(series, sizes.patch_size);
        toto::check_fit(request, bucket);
        fill(series, request, request_options.seed);
        const CurrentDevice current(device_.index);
        const Index patches = divide_rounding_up(request.horizon, sizes.patch_size);
        if (patches == sizes.steps) {
            whole_.launch(stream);
        } else {
            begin_.launch(stream);
            for (Index patch = first_patch; patch < patches; ++patch) {
                step_.launch(stream);
            }
            end_.launch(stream);
        }
        return request;
    }

    /// The part of the result that was asked for.
    Forecast collect(const Bucket& request) noexcept {
        const auto* values = reinterpret_cast<const float*>(host_result_.data());
        const Index samples = std::max<Index>(1, request.samples);
        const auto size = static_cast<std::size_t>(request.batch * request.variates * request.horizon * samples);
        if (size != result_size) {
            std::size_t to = 0;
            for (Index b = 0; b < request.batch; ++b) {
                for (Index v = 0; v < request.variates; ++v) {
                    for (Index step = 0; step < request.horizon; ++step) {
                        const float* from =
                            values + ((b * bucket.variates + v) * bucket.horizon + step) * sizes.samples;
                        std::copy_n(from, samples, compacted_.data() + to);
                        to += static_cast<std::size_t>(samples);
                    }
                }
            }
            values = compacted_.data();
        }
        return {{values, size}, request.batch, request.variates, request.horizon, request.samples};
    }

    Device device_;
    Executor executor_;
    Stream stream_;
    PinnedMemory staged_;
    DeviceMemory result_;
    PinnedMemory host_result_;
    std::vector<float> compacted_;
    ReplayableGraph whole_;
    ReplayableGraph begin_;
    ReplayableGraph step_;
    ReplayableGraph end_;
};

}  // namespace totograph::cuda
