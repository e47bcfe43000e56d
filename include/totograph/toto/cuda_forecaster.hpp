// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/bucket.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/series.hpp>
#include <totograph/exec/cuda/executor.hpp>
#include <totograph/exec/cuda/explain/explain.hpp>
#include <totograph/exec/cuda/explain/explain_dot.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/library_tuning.hpp>
#include <totograph/exec/cuda/kernels/collect.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/memory_report.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/toto/checkpoint.hpp>
#include <totograph/toto/cuda_device_forecast.hpp>
#include <totograph/toto/cuda_forecast_launches.hpp>
#include <totograph/toto/input_states.hpp>
#include <totograph/toto/programs.hpp>
#include <totograph/toto/request_parts.hpp>
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
    Execution execution{};  ///< How its launches reach the device.
};

/// Forecasts with one bucket on a CUDA device, whatever the batch, samples and context of a request: what is larger
/// runs in parts. A forecast (or a part) is one copy in, one replay of a CUDA graph and one copy out. One thread at a
/// time may use it; several forecasters may run at the same time, each on its stream.
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

    /// Prepares the weights (once for all forecasters that share them), all memory that forecasts need, and the graphs,
    /// each of which runs once. Throws `Error` when there is no usable device or not enough memory on it.
    explicit Forecaster(const toto::ModelWeights<Model>& weights, ForecasterResources resources = {})
        : Forecaster(weights, resources, CurrentDevice(resources.device), ChoosingAlgorithms()) {}

    /// Forecasts the steps after the series and waits for the result, a view of this forecaster's memory, valid until
    /// its next call of this function. Of a context that is longer than the bucket's, the newest steps are used; a
    /// batch and samples beyond the bucket run in parts, with the draws of one piece; the horizon goes beyond it only
    /// where the options extend it. Allocates nothing for a request that fits. Throws `Error` (before anything runs)
    /// when the request is malformed, or asks for what parts cannot give; and after it ran, `position_out_of_bounds`
    /// (see `cuda::Executor::check_positions`), which takes somebody who writes to the states.
    Forecast forecast(const Series& series, const ForecastOptions& request_options = {}) {
        const CurrentDevice current(device_.index);
        last_replays_ = 0;
        return toto::forecast_in_parts(
            series, request_options, bucket, sizes.patch_size, parts_,
            [this](const Series& part, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
                enqueue(part, request, seed, first_sample, stream_.get());
                last_replays_ += replays(request.horizon);
                check(cudaMemcpyAsync(host_result_.data(), result_.data(), end_of(request) * sizeof(float),
                                      cudaMemcpyDeviceToHost, stream_.get()),
                      "copying the result");
                stream_.synchronize();
                executor_.check_positions();
                return collect(request);
            });
    }

    /// Puts a forecast onto a stream of the caller's, which is not being captured, and returns. The series has been
    /// read then. The result stays on the device; it is there when what is on the stream has run.
    ///
    /// There is one staging memory and one result. If the forecast before this one, of either kind, has not ended, the
    /// host waits here until it has; otherwise nothing waits. The result before is overwritten: whoever reads it on the
    /// same stream comes first, and readers on other streams must have finished before this call or one of `forecast`.
    ///
    /// Of a context that is longer than the bucket's, the newest steps are used. Nothing runs in parts here: the rest
    /// has to fit the bucket (`Error`, `no_bucket`). A position out of bounds (see `forecast`) is told by the next
    /// call.
    DeviceForecast forecast_on(cudaStream_t stream, const Series& series, const ForecastOptions& request_options = {}) {
        const CurrentDevice current(device_.index);
        const Bucket request = toto::check_for(series, request_options, bucket, sizes.patch_size);
        if (!bucket.holds(request)) {
            throw Error(ErrorCode::no_bucket, "forecast_on: a request of " + to_string(request) +
                                                  " does not fit the bucket " + to_string(bucket) +
                                                  " in one piece; give its parts one by one, or call forecast.");
        }
        enqueue(series.newest(request.context), request, request_options.seed, request_options.first_sample, stream);
        pending_.record(stream);
        return {reinterpret_cast<const float*>(result_.data()), bucket, request, not_finite()};
    }

    /// Writes a request to the staging memory. `forecast` does this, after it has checked the request and waited for
    /// what `forecast_on` has left on streams: here nothing is checked, and nothing waits. Observed values are finite.
    void fill(const Series& series, const Bucket& request, std::uint64_t seed,
              std::uint32_t first_sample = 0) noexcept {
        const auto state = [this](std::string_view name) -> void* {
            const std::ptrdiff_t offset = Executor::input_offset(name);
            return offset < 0 ? nullptr : staged_.data() + offset;
        };
        toto::InputStates(sizes, state).fill(series, request, seed, first_sample);
    }

    /// Runs one program alone and waits, for those who look inside: the first after the inputs have been copied.
    template <std::size_t which>
    void run() {
        const CurrentDevice current(device_.index);
        pending_.wait();
        const Stream work;
        if constexpr (which == 0) {
            copy_inputs(work.get());
        }
        executor_.template launch<which>(work.get());
        work.synchronize();
        executor_.check_positions();
    }

    /// The content of a state, copied to the host. Throws `Error` when no program has a state of this name.
    template <class T>
    [[nodiscard]] std::vector<T> read_state(std::string_view name, int layer = -1) {
        const auto* entry = find_state(name, layer);
        std::vector<T> values(static_cast<std::size_t>(entry->slot.shape.size()));
        check_element<T>(name, *entry, values.size());
        const CurrentDevice current(device_.index);
        pending_.wait();
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
        pending_.wait();
        check(cudaMemcpyAsync(executor_.state(name, layer), values.data(), values.size() * sizeof(T),
                              cudaMemcpyHostToDevice, stream_.get()),
              "writing a state");
        stream_.synchronize();
    }

    /// What memory a forecaster takes, part by part. Known when compiled; `tuning_cache_report` and `held_memory` tell
    /// what came of it.
    static constexpr MemoryReport memory() {
        MemoryReport report;
        report.weights =
            shared_weight_bytes<Begin, Continue>(options.precision == Precision::bf16 ? DType::bf16 : DType::f32);
        for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
            const auto& entry = Executor::Layout::entries[i];
            bool is_cache = false;
            for (const std::string_view name : {toto::states::prefix.keys, toto::states::prefix.values,
                                                toto::states::suffix.keys, toto::states::suffix.values}) {
                is_cache = is_cache || entry.slot.name == name;
            }
            (is_cache ? report.caches : report.states) += Executor::Rounding::bytes(i);
        }
        report.arena = aligned_size(Executor::Layout::arena_bytes);
        report.workspace = Executor::memory_bytes() - Executor::States::bytes - report.arena;
        report.result = result_size * sizeof(float);
        report.pinned =
            Executor::States::input_bytes + report.result + sizeof(std::uint32_t) + Executor::pinned_bytes();
        return report;
    }
    /// Bytes on the device beside the shared weights: states, intermediates, workspace, result. Known when compiled.
    static constexpr std::size_t device_bytes() { return Executor::memory_bytes() + result_size * sizeof(float); }
    /// What both programs launch, as tables.
    /// @param device  where they are to run (`describe_device`); else the one that programs are cut for
    static std::string explain(const DeviceTraits& device = compiled_for) {
        constexpr bool streams = Executor::streams;
        return "bucket " + to_string(bucket) + "\n" + "  device memory  " + to_string(memory()) + "\n\n" +
               explain_launches<typename Executor::template ProgramAt<0>, streams>(has_cache ? "prefill" : "begin",
                                                                                   device) +
               "\n" +
               explain_launches<typename Executor::template ProgramAt<1>, streams>(has_cache ? "decode" : "recompute",
                                                                                   device);
    }

    /// Graphs that a forecast of the bucket's horizon replays when they are captured in this way.
    static Index planned_replays(Capture capture) {
        switch (capture) {
            case Capture::none: return 0;
            case Capture::regional:
                return static_cast<Index>(Executor::template regions<0>().size()) +
                       static_cast<Index>(Executor::template regions<1>().size()) * (sizes.steps - first_patch) + 1;
            case Capture::whole:
            case Capture::device_loop: return 1;
        }
        return 0;
    }

    /// What one of the programs launches, as data: 0 begins a forecast, 1 is each further patch.
    template <std::size_t which>
    static explain_detail::LaunchList launch_list(const DeviceTraits& device = compiled_for) {
        return explain_detail::LaunchList::of<typename Executor::template ProgramAt<which>, Executor::streams>(device);
    }

    /// What one of the programs launches, as a Graphviz picture: 0 begins a forecast, 1 is each further patch.
    template <std::size_t which>
    static std::string explain_dot(const DeviceTraits& device = compiled_for) {
        static_assert(which < 2);
        using Shown = typename Executor::template ProgramAt<which>;
        const char* const title = which == 0 ? has_cache ? "prefill" : "begin" : has_cache ? "decode" : "recompute";
        return explain_launches_dot<Shown, Executor::streams>(std::string(title) + " of " + to_string(bucket), device);
    }

    /// Copies and kernels in the graphs, of all of them together; what a loop repeats counts as one.
    [[nodiscard]] std::size_t graph_nodes() const noexcept { return launches_.node_count(); }
    /// Graphs that were captured when it was made; a forecast captures none.
    [[nodiscard]] std::size_t captures() const noexcept { return launches_.graph_count(); }
    /// Graphs that a forecast of so many steps replays.
    [[nodiscard]] Index replays(Index horizon) const noexcept {
        return launches_.replays(divide_rounding_up(horizon, sizes.patch_size));
    }
    /// Graphs that the last call of `forecast` replayed, of all its parts.
    [[nodiscard]] Index last_replays() const noexcept { return last_replays_; }
    [[nodiscard]] Executor& executor() noexcept { return executor_; }

private:
    /// While the device is current.
    Forecaster(const toto::ModelWeights<Model>& weights, const ForecasterResources& resources, const CurrentDevice&,
               ChoosingAlgorithms&& choosing)
        : device_(describe_device(resources.device)),
          executor_(weights.weights, device_, resources.execution, {true, sizes.steps > first_patch}, &choosing),
          stream_(resources.execution.capture == Capture::none ? StreamUse::kernels : StreamUse::graphs),
          staged_(Executor::States::input_bytes),
          result_(result_size * sizeof(float)),
          host_result_(result_size * sizeof(float)),
          not_finite_(sizeof(std::uint32_t)),
          compacted_(result_size) {
        poison();
        copy_noise();
        executor_.settle(stream_, [this](int program) { return record_part(program); });
        choosing.end();
        launches_ = ForecastLaunches<Executor>(resources.execution.capture, first_patch, sizes.steps, stream_,
                                               executor_, recording());
        launches_.launch_each(stream_.get());
        stream_.synchronize();
        executor_.forget_position_fault();  // what was tried ran parts of forecasts, in any order
        poison();
    }

    static constexpr Index first_patch = has_cache ? 1 : 0;

    void poison() const {
        const Stream work;
        executor_.poison(work.get());
        work.synchronize();
    }

    /// Inputs for what is tried when it is made. Not zeros: products of those need less power, and run faster.
    void copy_noise() {
        std::vector<float> noise(static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.context));
        std::uint32_t word = 0;
        for (float& value : noise) {
            value = static_cast<float>((word += 0x9e3779b9U) >> 8U) * 0x1p-24F;
        }
        fill({.batch = bucket.batch, .variates = bucket.variates, .steps = bucket.context, .values = noise}, bucket, 0);
        copy_inputs(stream_.get());
    }

    /// The first program, followed by two further patches (or as many as there are) when the other one is asked for.
    [[nodiscard]] ReplayableGraph record_part(int program) const {
        const auto launch = [&](cudaStream_t stream) {
            executor_.template launch<0>(stream);
            for (Index patch = 0; program == 1 && patch < std::min<Index>(2, sizes.steps - first_patch); ++patch) {
                executor_.template launch<1>(stream);
            }
        };
        return {stream_, launch, false};
    }

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
        const bool is_rounded =
            Executor::Rounding::at(static_cast<std::size_t>(&entry - &Executor::Layout::entries[0]));
        const DType stored = is_rounded ? DType::bf16 : entry.slot.dtype;
        if (dtype_of<T> != stored || size != static_cast<std::size_t>(entry.slot.shape.size())) {
            throw Error(ErrorCode::invalid_argument,
                        "cuda: the state '" + std::string(state) + "' is stored as " + std::string(name(stored)) + " " +
                            to_string(entry.slot.shape) + ", but " + std::to_string(size) + " elements of " +
                            std::string(name(dtype_of<T>)) + " were given; use its own type and size.");
        }
    }

    void copy_inputs(cudaStream_t stream) const {
        check(cudaMemcpyAsync(executor_.inputs(), staged_.data(), Executor::States::input_bytes, cudaMemcpyHostToDevice,
                              stream),
              "copying the inputs");
    }

    /// What a forecast does before and after the programs.
    [[nodiscard]] auto recording() const {
        return std::pair([this](cudaStream_t stream) { copy_inputs(stream); },
                         [this](cudaStream_t stream) { record_end(stream); });
    }

    void record_end(cudaStream_t stream) const {
        const dim3 tiles(static_cast<unsigned>(divide_rounding_up(bucket.horizon, collect_tile)),
                         static_cast<unsigned>(divide_rounding_up(sizes.samples, collect_tile)),
                         static_cast<unsigned>(bucket.batch * bucket.variates));
        collect_kernel<sizes.samples, bucket.variates, sizes.steps * sizes.patch_size, bucket.horizon>
            <<<tiles, block_threads, 0, stream>>>(
                reinterpret_cast<const float*>(executor_.state(toto::states::forecast)),
                reinterpret_cast<float*>(result_.data()),
                reinterpret_cast<const std::int32_t*>(executor_.state(toto::states::request)), not_finite());
        check(cudaGetLastError(), "launching a kernel");
    }

    /// Puts the replay of a request, which was checked and fits, onto a stream. The device is current.
    void enqueue(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample,
                 cudaStream_t stream) {
        pending_.wait();  // until then the staging memory, the states and the result are in use
        executor_.check_positions();
        *not_finite() = 0;
        fill(series, request, seed, first_sample);
        const Index patches = divide_rounding_up(request.horizon, sizes.patch_size);
        try {
            launches_.launch(stream, patches, executor_, recording());
        } catch (...) {
            cudaStreamSynchronize(stream);  // what was launched before it failed reads the staging memory
            throw;
        }
    }

    [[nodiscard]] std::uint32_t* not_finite() const noexcept {
        return reinterpret_cast<std::uint32_t*>(not_finite_.data());
    }

    /// Elements of the result up to the last one that was asked for.
    static std::size_t end_of(const Bucket& request) noexcept {
        const Index rows = (request.batch - 1) * bucket.variates + request.variates;
        return static_cast<std::size_t>(((rows - 1) * bucket.horizon + request.horizon) * sizes.samples);
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
        return {{values, size},  request.batch,   request.variates,
                request.horizon, request.samples, static_cast<Index>(*not_finite())};
    }

    Device device_;
    Executor executor_;
    Stream stream_;
    PinnedMemory staged_;
    DeviceMemory result_;
    PinnedMemory host_result_;
    PinnedMemory not_finite_;  ///< A number that kernels add to.
    std::vector<float> compacted_;
    toto::PartsMemory parts_;
    Index last_replays_ = 0;
    ForecastLaunches<Executor> launches_;
    PendingWork pending_;  // the last: it is waited for before anything else goes
};

}  // namespace totograph::cuda
