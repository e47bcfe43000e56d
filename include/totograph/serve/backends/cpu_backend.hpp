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
#include <totograph/graph/explain/group_lines.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/unroll.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/cpu_explanation.hpp>
#include <totograph/serve/explain/explain_text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/synthetic_request.hpp>
#include <totograph/serve/tuning/tune_threads.hpp>
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

private:
    Forecaster forecaster_;
};

/// Tells programs apart whose forecasts take different time: the bucket, and a checksum of what is computed for it.
inline std::string program_key(const Bucket& bucket, const FusedFacts& facts) {
    std::string text = std::string(name(facts.storage)) + " " + std::to_string(facts.plan.sizes.steps) + " steps, " +
                       std::to_string(facts.weight_bytes) + ", " + std::to_string(facts.state_bytes) + ", " +
                       std::to_string(facts.arena_bytes) + ", " + std::to_string(facts.scratch_bytes) + " bytes\n";
    for (const ProgramTables& program : facts.programs) {
        text += group_lines(program, "");
    }
    return to_string(bucket) + ", program " + std::to_string(io::checksum_of(text));
}

/// What was compiled for a bucket.
struct CompiledBucket {
    Bucket bucket;
    ForecastPlan plan;
    std::unique_ptr<BucketForecaster> (*make)(const Weights& weights, const ForecasterResources& resources) = nullptr;
    FusedFacts (*facts)() = nullptr;
    RecordedForecast (*record)() = nullptr;
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

    [[nodiscard]] std::vector<Bucket> buckets() const override {
        std::vector<Bucket> buckets;
        for (const detail::CompiledBucket& one : compiled_) {
            buckets.push_back(one.bucket);
        }
        return buckets;
    }

    [[nodiscard]] std::string describe(Mode mode) const override {
        switch (mode) {
            case Mode::eager: return "the recorded nodes one by one, on one thread";
            case Mode::standard: return "the fused program, on all threads";
            case Mode::reduce_overhead:
                return "the fused program, on all threads: as default, for calls on the CPU have no overhead to save";
            case Mode::max_autotune:
            case Mode::max_autotune_no_cudagraphs:
                return "the fused program, on as many threads as it measures to be fastest with";
        }
        return {};
    }

    [[nodiscard]] std::unique_ptr<BucketForecaster> make(const Bucket& bucket, Mode mode,
                                                         const BackendResources& resources) const override {
        const std::size_t which = find(bucket);
        const detail::CompiledBucket& compiled = compiled_[which];
        const int threads = thread_count(resources.threads);
        require_mode(mode);
        log_program(bucket, compiled, mode);
        if (mode == Mode::eager) {
            return std::make_unique<detail::CpuForecaster<EagerForecaster>>(weights_, compiled.record());
        }
        return is_tuned(mode) ? make_tuned(which, threads, resources) : make_fused(compiled, threads, resources);
    }

    [[nodiscard]] ForecastPlan plan(const Bucket& bucket) const override { return compiled_[find(bucket)].plan; }

    /// The workspace is that of `default_threads()`, or of as many as were measured to be fastest of them.
    [[nodiscard]] Explanation explain(const Bucket& bucket, Mode mode) const override {
        const std::size_t which = find(bucket);
        const detail::CompiledBucket& compiled = compiled_[which];
        require_mode(mode);
        const int all = thread_count(0);
        const int tuned = is_tuned(mode) ? tuned_.known(which, all) : 0;
        Explanation explanation = mode == Mode::eager
                                      ? detail::explain_eager(compiled.record())
                                      : detail::explain_fused(compiled.facts(), tuned > 0 ? tuned : all);
        explanation.backend = name_;
        explanation.mode = serve::name(mode);
        return explanation;
    }

private:
    static bool is_tuned(Mode mode) noexcept {
        return mode == Mode::max_autotune || mode == Mode::max_autotune_no_cudagraphs;
    }

    void require_mode(Mode mode) const {
        if (describe(mode).empty()) {
            throw Error(ErrorCode::invalid_argument, "The backend " + io::in_quotes(name_) +
                                                         " was asked for a mode that does not exist. Use one of the "
                                                         "enumerators of Mode.");
        }
    }

    [[nodiscard]] std::size_t find(const Bucket& bucket) const {
        std::string list;
        for (std::size_t i = 0; i < compiled_.size(); ++i) {
            if (compiled_[i].bucket == bucket) {
                return i;
            }
            list += (list.empty() ? "" : "; ") + to_string(compiled_[i].bucket);
        }
        throw Error(ErrorCode::no_bucket, "The backend " + io::in_quotes(name_) + " has no compiled size " +
                                              to_string(bucket) + "; it has: " + list + ". Compile it as well.");
    }

    [[nodiscard]] std::unique_ptr<BucketForecaster> make_fused(const detail::CompiledBucket& compiled, int threads,
                                                               const BackendResources& resources) const {
        return compiled.make(weights_,
                             {.threads = threads, .pool = resources.pools ? resources.pools->get(threads) : nullptr});
    }

    [[nodiscard]] std::unique_ptr<BucketForecaster> make_tuned(std::size_t which, int most,
                                                               const BackendResources& resources) const {
        const detail::CompiledBucket& compiled = compiled_[which];
        if (const int known = tuned_.known(which, most); known > 0) {
            return make_fused(compiled, known, resources);
        }
        const detail::ThreadQuestion question{
            .program = detail::program_key(compiled.bucket, compiled.facts()),
            .subject = "size " + to_string(compiled.bucket) + " of " + io::in_quotes(name_)};
        const auto measure = [&](int threads, double too_slow) {
            const SyntheticRequest request(compiled.bucket);
            return detail::median_seconds(*make_fused(compiled, threads, resources), request, too_slow);
        };
        const int best = tuned_.choose(which, most, detail::tuning_place(cpu::packet_size), question, measure);
        return make_fused(compiled, best, resources);
    }

    void log_program(const Bucket& bucket, const detail::CompiledBucket& compiled, Mode mode) const {
        log(LogTopic::graph, [&] { return to_string(explain(bucket, mode)); });
        if (mode != Mode::eager) {
            log(LogTopic::fusion, [&] {
                const detail::FusedFacts facts = compiled.facts();
                std::string lines;
                for (std::size_t i = 0; i < facts.programs.size(); ++i) {
                    lines += group_lines(facts.programs[i], facts.plan.names[i]);
                }
                return lines;
            });
        }
    }

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
