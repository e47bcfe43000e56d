// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/choosing_algorithms.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/bucket_programs.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/cuda/forecaster_options.hpp>
#include <totograph/forecast/cuda/gather_series.hpp>
#include <totograph/forecast/cuda/launches.hpp>
#include <totograph/forecast/cuda/program_launches.hpp>
#include <totograph/forecast/cuda/result.hpp>
#include <totograph/forecast/cuda/staged_inputs.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/schedule_programs.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/state_access.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/forecast/states.hpp>

namespace totograph::cuda {

/// Runs the programs of one bucket on a CUDA device: the part of a `cuda::Forecaster` that knows the executor.
template <class Model, Bucket bucket, ForecasterOptions options>
class Runner : public BucketPrograms<Model, bucket, options> {
    using Base = BucketPrograms<Model, bucket, options>;
    using Base::longest;
    using Base::runs_apart;
    using Base::runs_for;
    using typename Base::Programs;
    using typename Base::Runs;
    using Inputs = StagedInputs<typename Base::Executor>;

public:
    using typename Base::Executor;
    using Resources = ForecasterResources;
    using Base::device_bytes;
    using Base::program_count;
    static_assert(
        !runs_apart || !Executor::States::writes_inputs,
        "totograph: of programs that run one by one, one writes an input of the first; the next copy of inputs "
        "would overwrite what it keeps. Give what it keeps a state of its own.");

    /// Puts a forecast onto a stream of the caller's, which is not being captured, and returns. The series has been
    /// read then. The result stays on the device; it is there when what is on the stream has run.
    ///
    /// There is one staging memory and one result. If the forecast before this one, of either kind, has not ended, the
    /// host waits here until it has; otherwise nothing waits, but for what is on the stream where the request is
    /// refused. The result before is overwritten: whoever reads it on the same stream comes first, and readers on other
    /// streams must have finished before this call or one of `forecast`.
    ///
    /// Of a context that is longer than the bucket's, the newest steps are used. Nothing runs in parts here: the rest
    /// has to fit the bucket (`Error`, `no_bucket`). A position out of bounds (see `Forecaster::forecast`) is told by
    /// the next call.
    DeviceForecast forecast_on(cudaStream_t stream, const Series& series, const ForecastOptions& request_options = {}) {
        static_assert(!runs_apart,
                      "totograph: forecast_on is for forecasters; a session runs its programs one by one.");
        require_memory();
        const CurrentDevice current(device_.index);
        const bool checks_later = checks_values && can_check_later(series, request_options, bucket);
        const ValuesOn values = checks_later ? ValuesOn::host_later : ValuesOn::host;
        const Bucket request = require_piece(check_for(series, request_options, plan, values));
        enqueue(series.newest(request.context), request, request_options, stream, values);
        pending_.record(stream);
        return result_.on_device(plan, request);
    }

    /// The same of a series whose values lie on this device, which are read when the stream has come to here: until
    /// then they stay as they are. The host never reads them. What of them cannot be used is told with the result
    /// (`DeviceForecast::not_finite`). Throws `Error` (`invalid_argument`) for values that lie where this device does
    /// not read them, and for a model that reads its series on the host, one whose family says no `imputation`.
    DeviceForecast forecast_on(cudaStream_t stream, const DeviceSeries& given,
                               const ForecastOptions& request_options = {}) {
        static_assert(!runs_apart,
                      "totograph: forecast_on is for forecasters; a session runs its programs one by one.");
        require_memory();
        const CurrentDevice current(device_.index);
        const Bucket request = require_piece(check_for(given.series, request_options, plan, ValuesOn::device));
        if constexpr (takes_device_series) {
            SeriesGather gather(given, request.context, plan.sizes, *plan.imputation);
            gather.not_finite = result_.not_finite();
            enqueue(given.series.newest(request.context), request, request_options, stream, ValuesOn::device, &gather);
        }
        pending_.record(stream);
        return result_.on_device(plan, request);
    }

    /// Writes a request to the staging memory. `forecast` does this, after it has checked the request and waited for
    /// what `forecast_on` has left on streams: here nothing is checked, and nothing waits. Observed values are finite.
    void fill(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample = 0) {
        require_memory();
        inputs_.fill(plan, series, request, seed, first_sample);
    }

    /// Runs one program alone and waits, for those who look inside: the first after the inputs have been copied.
    template <std::size_t which>
    void run() {
        require_memory();
        const CurrentDevice current(device_.index);
        pending_.wait();
        const Stream work;
        if constexpr (which == 0) {
            inputs_.copy(executor_, work.get());
        }
        executor_.template launch<which>(work.get());
        work.synchronize();
        executor_.check_positions();
    }

    /// The content of a state, copied to the host. Throws `Error` when no program has a state of this name.
    template <class T>
    [[nodiscard]] std::vector<T> read_state(std::string_view name, int layer = -1) {
        const auto& entry = forecast_detail::require_state(Executor::Layout::find(name, layer), name, layer);
        std::vector<T> values(static_cast<std::size_t>(entry.slot.shape.size()));
        require_memory();
        check_element<T>(name, entry, values.size());
        const CurrentDevice current(device_.index);
        pending_.wait();
        check(cudaMemcpyAsync(values.data(), executor_.state(name, layer), values.size() * sizeof(T),
                              cudaMemcpyDeviceToHost, stream_.get()),
              "reading a state");
        stream_.synchronize();
        return values;
    }
    /// Overwrites a state; an input until the next `fill`. Throws `Error` when no program has a state of this name, or
    /// it has another size or type.
    template <class T>
    void write_state(std::string_view name, const std::vector<T>& values, int layer = -1) {
        check_element<T>(name, forecast_detail::require_state(Executor::Layout::find(name, layer), name, layer),
                         values.size());
        require_memory();
        const CurrentDevice current(device_.index);
        pending_.wait();
        if (const std::ptrdiff_t offset = layer < 0 ? Executor::input_offset(name) : -1; offset >= 0) {
            std::memcpy(inputs_.data() + offset, values.data(), values.size() * sizeof(T));
            inputs_.forget();
        }
        check(cudaMemcpyAsync(executor_.state(name, layer), values.data(), values.size() * sizeof(T),
                              cudaMemcpyHostToDevice, stream_.get()),
              "writing a state");
        stream_.synchronize();
    }

    /// Copies and kernels in the graphs, of all of them together; what a loop repeats counts as one.
    [[nodiscard]] std::size_t graph_nodes() const noexcept { return launches_.node_count(); }
    /// Whether a request leaves on the device what `HeldSeries` says is there: one of 128 KiB of inputs or more, which
    /// the call copies.
    static constexpr bool keeps_inputs() { return !graph_copies; }
    /// Graphs that were captured when it was made; a forecast captures none.
    [[nodiscard]] std::size_t captures() const noexcept { return launches_.graph_count(); }
    /// Graphs that a forecast of so many steps replays.
    [[nodiscard]] Index replays(Index horizon) const noexcept { return launches_.replays(runs_for(horizon)); }
    /// Graphs that the last call of `forecast` replayed, of all its parts.
    [[nodiscard]] Index last_replays() const noexcept { return last_replays_; }
    [[nodiscard]] Executor& executor() noexcept { return executor_; }

protected:
    using Base::plan;

    /// Whether values that nobody has looked at are checked here, while they are on their way to the device: that takes
    /// less time than the way.
    static constexpr bool checks_values = !Inputs::graph_copies && plan.imputation.has_value();

    /// Prepares the weights, all memory that forecasts need, and the graphs, each of which runs once.
    Runner(const Weights& weights, const Resources& resources)
        : Runner(weights, resources, CurrentDevice(resources.device), ChoosingAlgorithms()) {}

    /// For one forecast, however many parts it has: its device is current.
    [[nodiscard]] CurrentDevice begin() {
        require_memory();
        last_replays_ = 0;
        return CurrentDevice(device_.index);
    }

    /// Throws `Error` (`invalid_argument`) where another one has taken the memory.
    void require_memory() const {
        if (inputs_.data() == nullptr) {
            forecast_detail::reject_moved_from();
        }
    }

    /// Forecasts a request that was checked, but for values that are `host_later`, and fits the bucket; waits for it.
    /// The device is current.
    Forecast run(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample,
                 ValuesOn values = ValuesOn::host) {
        enqueue(series, request, {.seed = seed, .first_sample = first_sample}, stream_.get(), values);
        last_replays_ += replays(request.horizon);
        result_.copy_to_host(plan, request, stream_.get());
        stream_.synchronize();
        executor_.check_positions();
        return result_.on_host(plan, request);
    }

    /// Puts one program onto the stream, on inputs that `fill(StateMemory)` writes; what it does not write stays what
    /// it was. Of programs that run apart (`runs_apart`). The device is current.
    template <std::size_t which, class Fill>
    void run_on(const Fill& fill) {
        pending_.wait();  // until then the staging memory is in use
        executor_.check_positions();
        const auto state = inputs_.states();
        fill(StateMemory(state));
        try {
            launches_.template launch<which>(stream_.get(), executor_, Recording{this});
        } catch (...) {
            cudaStreamSynchronize(stream_.get());  // what was launched before it failed reads the staging memory
            throw;
        }
        pending_.record(stream_.get());
    }

    /// Waits for what the programs have forecast, for a request of no more steps than they did. Of programs that run
    /// apart. The device is current.
    Forecast collect(const Bucket& request) {
        result_.reset();
        // Not where the inputs are: a program that still runs may not have copied them, and its request bounds more.
        const auto state = [this](std::string_view name) -> void* {
            return name == states::request ? inputs_.data() + Executor::States::input_bytes : nullptr;
        };
        InputStates(plan.sizes, state).fill_request(request);
        launches_.launch_end(stream_.get(), Recording{this});
        result_.copy_to_host(plan, request, stream_.get());
        stream_.synchronize();
        executor_.check_positions();
        return result_.on_host(plan, request);
    }

    [[nodiscard]] static constexpr std::size_t runner_bytes() { return device_bytes(); }

private:
    static constexpr bool graph_copies = Inputs::graph_copies;
    static constexpr bool takes_device_series = !runs_apart && plan.imputation.has_value();

    using Launches = std::conditional_t<runs_apart, ProgramLaunches<Executor, program_count>,
                                        ForecastLaunches<Executor, program_count, graph_copies && takes_device_series>>;

    /// What programs that run apart need beside themselves.
    struct Recording {
        const Runner* runner;

        /// The copy of the inputs that a program has.
        template <std::size_t which>
        void before(cudaStream_t stream) const {
            constexpr auto range = Executor::States::template inputs_of<typename Executor::template ProgramAt<which>>;
            if constexpr (range.begin < range.end) {
                runner->inputs_.template copy_before_program<Executor::template waits_first<which>()>(
                    runner->executor_, stream, range.begin, range.end - range.begin);
            }
        }
        /// The copy of the request, and its result.
        void end(cudaStream_t stream) const {
            constexpr std::size_t place = Executor::Layout::place_of(states::request);
            constexpr std::size_t offset = Executor::States::offset(place);
            static_assert(Executor::Layout::entries[place].bytes() == Base::end_request_bytes);
            runner->inputs_.copy(runner->executor_, stream, offset, Base::end_request_bytes,
                                 Executor::States::input_bytes - offset);
            runner->collect_on(stream);
        }
    };

    /// While the device is current.
    Runner(const Weights& weights, const Resources& resources, const CurrentDevice&, ChoosingAlgorithms&& choosing)
        : device_(describe_device(resources.device)),
          executor_(weights, device_, resources.execution, programs_that_run(), &choosing),
          stream_(resources.execution.capture == Capture::none ? StreamUse::kernels : StreamUse::graphs),
          inputs_(Base::end_request_bytes),
          result_(plan) {
        poison();
        copy_noise();
        executor_.tune(stream_, [this](int program) { return record_part(program); });
        choosing.end();
        if constexpr (runs_apart) {
            launches_ = Launches(resources.execution.capture, stream_, executor_, Recording{this});
        } else {
            launches_ = Launches(resources.execution.capture, longest, runs_for(1), stream_, executor_, recording());
        }
        launches_.launch_each(stream_.get());
        stream_.synchronize();
        executor_.forget_position_fault();  // what was tried ran parts of forecasts, in any order
        poison();
    }

    static constexpr typename Executor::Runs programs_that_run() {
        typename Executor::Runs runs{};
        for (std::size_t program = 0; program < program_count; ++program) {
            runs[program] = longest[program] > 0;
        }
        return runs;
    }

    void poison() const {
        const Stream work;
        executor_.poison(work.get());
        work.synchronize();
    }

    /// Inputs for what is tried when it is made. Not zeros: GEMMs of those need less power, and run faster.
    void copy_noise() {
        if constexpr (runs_apart) {
            std::fill_n(inputs_.data(), inputs_.bytes(), std::byte{0});
        }
        std::vector<float> noise(static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.context));
        std::uint32_t word = 0;
        for (float& value : noise) {
            value = static_cast<float>((word += 0x9e3779b9U) >> 8U) * 0x1p-24F;
        }
        fill({.batch = bucket.batch, .variates = bucket.variates, .steps = bucket.context, .values = noise}, bucket, 0);
        inputs_.copy(executor_, stream_.get());
    }

    /// A program after those before it, each of which runs once: twice, if a forecast runs it as often.
    [[nodiscard]] ReplayableGraph record_part(int chosen) const {
        const auto last = static_cast<std::size_t>(chosen);
        const auto launch = [&](cudaStream_t stream) {
            Programs::for_each([&]<std::size_t which>() {
                const Index most = which < last || which == 0 ? 1 : which == last ? 2 : 0;
                for (Index left = std::min(most, longest[which]); left > 0; --left) {
                    executor_.template launch<which>(stream);
                }
            });
        };
        return {stream_, launch, false};
    }

    template <class T, class Entry>
    static void check_element(std::string_view name, const Entry& entry, std::size_t count) {
        const bool stores_bf16 =
            Executor::StateStorage::at(static_cast<std::size_t>(&entry - &Executor::Layout::entries[0]));
        forecast_detail::check_state(name, stores_bf16 ? DType::bf16 : entry.slot.dtype, entry.slot.shape, dtype_of<T>,
                                     count);
    }

    void collect_on(cudaStream_t stream) const {
        result_.template collect<plan.sizes.values, bucket.variates, plan.sizes.forecast_steps(), plan.not_finite>(
            plan, executor_.state(states::forecast), executor_.state(states::request), stream);
    }

    /// What a forecast does before and after the programs, in the same graph.
    [[nodiscard]] auto recording(bool copies = graph_copies) const {
        const auto begin = [this, copies](cudaStream_t stream) {
            if (copies) {
                inputs_.template copy_before_program<Executor::template waits_first<0>()>(executor_, stream);
            }
        };
        return std::pair(begin, [this](cudaStream_t stream) { collect_on(stream); });
    }

    static Bucket require_piece(const Bucket& request) {
        if (!bucket.holds(request)) {
            throw Error(ErrorCode::no_bucket, "forecast_on: a request of " + to_string(request) +
                                                  " does not fit the compiled size " + to_string(bucket) +
                                                  " in one piece; give its parts one by one, or call forecast.");
        }
        return request;
    }

    /// Puts the replay of a request, which was checked but for values that are `host_later`, and fits, onto a stream.
    /// The device is current.
    /// @param on_device  what brings a series whose values lie there
    void enqueue(const Series& series, const Bucket& request, const ForecastOptions& asked, cudaStream_t stream,
                 ValuesOn values, const SeriesGather* on_device = nullptr) {
        pending_.wait();  // until then the staging memory, the states and the result are in use
        executor_.check_positions();
        try {
            if (on_device == nullptr) {
                inputs_.bring(plan, executor_, series, request, asked, stream);
                if (values == ValuesOn::host_later) {
                    check_values(series, request.context);
                }
                result_.reset();
            } else if constexpr (takes_device_series) {
                result_.reset();  // what brings the series counts there what it cannot use
                inputs_.bring(plan, executor_, *on_device, series, request, asked, stream);
            }
            launches_.launch(stream, runs_for(request.horizon), executor_,
                             recording(graph_copies && on_device == nullptr), on_device == nullptr);
        } catch (...) {
            inputs_.forget();
            cudaStreamSynchronize(stream);  // what was put there before it failed reads the staging memory
            throw;
        }
    }

    Device device_;
    Executor executor_;
    Stream stream_;
    Inputs inputs_;
    ForecastResult result_;
    Index last_replays_ = 0;
    Launches launches_;
    PendingWork pending_;  // the last: it is waited for before anything else goes
};

}  // namespace totograph::cuda
