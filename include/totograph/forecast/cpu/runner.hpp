// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/check_states.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/forecaster_options.hpp>
#include <totograph/forecast/out_of_memory.hpp>
#include <totograph/forecast/results/collect.hpp>
#include <totograph/forecast/schedule_programs.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/state_access.hpp>
#include <totograph/forecast/state_memory.hpp>
#include <totograph/forecast/states.hpp>
#include <totograph/graph/explain.hpp>
#include <totograph/graph/explain/dot.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/needs_f32.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph {

/// Runs the programs of one bucket on the CPU, fused: the part of a `Forecaster` that knows an executor.
template <class Model, Bucket bucket, ForecasterOptions options>
class CpuRunner {
    static_assert(options.weights == DType::f32 || options.weights == DType::bf16,
                  "totograph: weights are stored as f32 or bf16.");

    using Programs = SchedulePrograms<Model, bucket, options.passes>;
    template <class... Each>
    using ExecutorOf = cpu::FusedExecutor<std::conditional_t<options.weights == DType::bf16, BFloat16, float>, Each...>;
    template <class... Each>
    using LayoutOf = StateLayout<Each...>;
    template <class... Each>
    struct WeightBytes {
        static constexpr std::size_t of(DType storage) { return shared_weight_bytes<Each...>(storage); }
    };
    using Layout = typename Programs::template In<LayoutOf>;

public:
    using Resources = ForecasterResources;
    /// One of the programs of a forecast, in the order in which they run.
    template <std::size_t which>
    using ProgramAt = typename Programs::template At<which>;
    /// What runs them.
    using Executor = typename Programs::template In<ExecutorOf>;

    /// Bytes of all states: inputs, result, caches.
    static constexpr std::size_t state_bytes = Layout::bytes;
    /// Bytes of intermediates, for whichever program runs.
    static constexpr std::size_t arena_bytes = Layout::arena_bytes;
    /// Bytes of cached keys and values; part of `state_bytes`. Without a cache there are none.
    static constexpr std::size_t kv_cache_bytes = Layout::cache_bytes;
    /// Bytes of the prepared weights of all programs, each once.
    static constexpr std::size_t weight_bytes = Programs::template In<WeightBytes>::of(options.weights);

    /// All programs as tables: memory, steps, kernels.
    static std::string explain() {
        ExplainOptions explain_options;
        std::string text = "sizes " + to_string(bucket) + "\n" + "  weights    " + detail::bytes_text(weight_bytes) +
                           " (" + std::string(name(options.weights)) + " GEMMs, shared by all forecasters)\n" +
                           "  states     " + detail::bytes_text(state_bytes) + ", of which KV cache " +
                           detail::bytes_text(kv_cache_bytes) + "\n" + "  arena      " +
                           detail::bytes_text(arena_bytes) + "\n";
        Programs::for_each([&]<std::size_t which>() {
            explain_options.storage = needs_f32<ProgramAt<which>> ? DType::f32 : options.weights;
            text += "\n" + totograph::explain<ProgramAt<which>>(std::string(plan.titles[which]), explain_options);
        });
        return text;
    }

    /// One of the programs as Graphviz DOT.
    template <std::size_t which>
    static std::string explain_dot() {
        return totograph::explain_dot<ProgramAt<which>>(std::string(plan.names[which]));
    }

    /// Runs one program alone, for those who look inside.
    template <std::size_t which>
    void run() {
        require_memory();
        executor_.template run<which>();
    }

    /// A copy of the content of a state. Throws `Error` when no program has a state of this name, or it is of another
    /// type.
    template <class T>
    [[nodiscard]] std::vector<T> read_state(std::string_view name, int layer = -1) const {
        const auto& entry = forecast_detail::require_state(Layout::find(name, layer), name, layer);
        const auto count = static_cast<std::size_t>(entry.slot.shape.size());
        require_memory();
        forecast_detail::check_state(name, entry.slot.dtype, entry.slot.shape, dtype_of<T>, count);
        const T* const from = static_cast<const T*>(executor_.state(name, layer));
        return {from, from + count};
    }
    /// Overwrites a state. Throws `Error` when no program has a state of this name, or it has another size or type.
    template <class T>
    void write_state(std::string_view name, const std::vector<T>& values, int layer = -1) {
        const auto& entry = forecast_detail::require_state(Layout::find(name, layer), name, layer);
        forecast_detail::check_state(name, entry.slot.dtype, entry.slot.shape, dtype_of<T>, values.size());
        require_memory();
        std::copy(values.begin(), values.end(), static_cast<T*>(executor_.state(name, layer)));
    }

    /// The executor, for those who look inside.
    [[nodiscard]] Executor& executor() { return executor_; }

    /// Writes a request to the input states, padded to the bucket. `forecast` does this, after it has checked the
    /// request: here nothing is checked.
    void fill(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample = 0) {
        require_memory();
        const auto state = [this](std::string_view name) { return executor_.state(name); };
        plan.fill(state, plan.sizes, series, request, seed, first_sample);
    }

protected:
    static constexpr ForecastPlan plan = forecast_plan<Model, bucket>();
    static_assert(forecast_detail::check_states<Layout, plan.sizes, plan.imputes()>());

    CpuRunner(const Weights& weights, const Resources& resources)
        : executor_(with_memory([&] { return Executor(weights, thread_pool_of(resources)); })),
          result_(with_memory([] { return std::vector<float>(plan.result_size()); })) {}

    /// What lasts as long as one forecast of several parts: nothing.
    struct Scope {};
    [[nodiscard]] Scope begin() const {
        require_memory();
        return {};
    }

    /// Throws `Error` (`invalid_argument`) where another one has taken the memory.
    void require_memory() const {
        if (result_.empty()) {
            forecast_detail::reject_moved_from();
        }
    }

    /// Forecasts a request that was checked and fits the bucket.
    Forecast run(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
        fill(series, request, seed, first_sample);
        Programs::for_each([&]<std::size_t which>() {
            for (Index left = plan.runs(which, request.horizon); left > 0; --left) {
                executor_.template run<which>();
            }
        });
        return collect(request);
    }

    /// Runs one program on inputs that `fill(StateMemory)` writes. What it does not write stays what it was.
    template <std::size_t which, class Fill>
    void run_on(const Fill& fill) {
        fill(StateMemory([this](std::string_view name) { return executor_.state(name); }));
        executor_.template run<which>();
    }

    /// What the programs have forecast, for a request of no more steps than they did.
    Forecast collect(const Bucket& request) noexcept {
        return collect_forecast(static_cast<const float*>(executor_.state(states::forecast)), plan, request, result_);
    }

    [[nodiscard]] std::size_t runner_bytes() const { return executor_.memory_bytes() + result_.size() * sizeof(float); }

private:
    template <class Make>
    static auto with_memory(const Make& make) {
        return forecast_detail::made_with_memory(bucket, state_bytes + arena_bytes + plan.result_size() * sizeof(float),
                                                 make);
    }

    Executor executor_;
    std::vector<float> result_;
};

}  // namespace totograph
