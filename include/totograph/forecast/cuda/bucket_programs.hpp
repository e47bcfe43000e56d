// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/executor.hpp>
#include <totograph/exec/cuda/explain/explain.hpp>
#include <totograph/exec/cuda/explain/explain_dot.hpp>
#include <totograph/exec/cuda/lowering/weight_uses.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/memory_report.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/check_states.hpp>
#include <totograph/forecast/cuda/forecaster_options.hpp>
#include <totograph/forecast/cuda/result.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/schedule_programs.hpp>
#include <totograph/forecast/states.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/unroll.hpp>

namespace totograph::cuda {

/// What is known of one bucket's programs on a CUDA device when they are compiled: their memory, what they launch, how
/// often they run.
template <class Model, Bucket bucket, ForecasterOptions options>
class BucketPrograms {
    static_assert(bucket.batch * bucket.variates <= 65535,
                  "totograph: the CUDA executor takes at most 65,535 variates of all series of a bucket together.");
    template <class... Each>
    using ExecutorOf = cuda::Executor<options.precision, Each...>;

protected:
    using Programs = SchedulePrograms<Model, bucket, options.passes>;

public:
    using Executor = typename Programs::template In<ExecutorOf>;
    /// One of the programs of a forecast, in the order in which they run.
    template <std::size_t which>
    using ProgramAt = typename Programs::template At<which>;
    static constexpr std::size_t program_count = Programs::count;

    /// What memory a forecaster takes, part by part. Known when compiled; `tuning_cache_report` and `held_memory` tell
    /// what came of it.
    static constexpr MemoryReport memory() {
        MemoryReport report;
        DistinctWeights weights;
        Programs::for_each([&]<std::size_t which>() {
            add_weights<typename Executor::template ProgramAt<which>, Executor::Memory::template precision_at<which>>(
                weights, 256);
        });
        report.weights = weights.bytes();
        for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
            const bool is_cache = Executor::Layout::entries[i].slot.use == StateUse::kv_cache;
            (is_cache ? report.caches : report.states) += Executor::StateStorage::bytes(i);
        }
        report.arena = aligned_size(Executor::Layout::arena_bytes);
        report.workspace = Executor::memory_bytes() - Executor::States::bytes - report.arena;
        report.result = plan.result_size() * sizeof(float);
        report.pinned = Executor::States::input_bytes + end_request_bytes + ForecastResult::pinned_bytes(plan) +
                        Executor::pinned_bytes();
        return report;
    }
    /// Bytes on the device beside the shared weights: states, intermediates, workspace, result. Known when compiled.
    static constexpr std::size_t device_bytes() {
        return Executor::memory_bytes() + plan.result_size() * sizeof(float);
    }

    /// What the programs launch, as tables.
    /// @param device     where they are to run (`describe_device`); else the one that programs are cut for
    /// @param execution  that of `ForecasterResources`
    static std::string explain(const DeviceTraits& device = compiled_for, const Execution& execution = {}) {
        std::string text = "sizes " + to_string(bucket) + "\n" + "  device memory  " + to_string(memory()) + "\n";
        Programs::for_each([&]<std::size_t which>() {
            text += "\n" + explain_launches<typename Executor::template ProgramAt<which>, options.precision>(
                               std::string(plan.names[which]), device, execution);
        });
        return text;
    }

    /// Graphs that a forecast of the bucket's horizon replays when they are captured in this way.
    static Index planned_replays(Capture capture) {
        switch (capture) {
            case Capture::none: return 0;
            case Capture::regional: {
                Index count = 1;
                Programs::for_each([&]<std::size_t which>() {
                    count += static_cast<Index>(Executor::template regions<which>().size()) * longest[which];
                });
                return count;
            }
            case Capture::whole:
            case Capture::device_loop: return 1;
        }
        return 0;
    }

    /// What one of the programs launches, as data.
    template <std::size_t which>
    static explain_detail::LaunchList launch_list(const DeviceTraits& device = compiled_for,
                                                  const Execution& execution = {}) {
        return explain_detail::LaunchList::of<typename Executor::template ProgramAt<which>, options.precision>(
            device, execution);
    }

    /// What one of the programs launches, as a Graphviz picture.
    template <std::size_t which>
    static std::string explain_dot(const DeviceTraits& device = compiled_for, const Execution& execution = {}) {
        static_assert(which < program_count);
        return explain_launches_dot<typename Executor::template ProgramAt<which>, options.precision>(
            std::string(plan.names[which]) + " of " + to_string(bucket), device, execution);
    }

protected:
    using Runs = std::array<Index, program_count>;

    static constexpr ForecastPlan plan = forecast_plan<Model, bucket>();
    static_assert(forecast_detail::check_states<typename Executor::Layout, plan.sizes, plan.imputes()>());
    static constexpr bool runs_apart = totograph::runs_apart<Model, bucket>;
    /// Of programs that run apart: the request with which a forecast ends, beside the inputs of what may still run.
    static constexpr std::size_t end_request_bytes = [] {
        constexpr std::size_t place = Executor::Layout::place_of(states::request);
        return runs_apart && place < Executor::Layout::count ? Executor::Layout::entries[place].bytes() : 0;
    }();

    /// How often each program runs for a horizon.
    static constexpr Runs runs_for(Index horizon) {
        Runs runs{};
        for (std::size_t program = 0; program < program_count; ++program) {
            runs[program] = runs_apart ? 1 : plan.runs(program, horizon);
        }
        return runs;
    }
    static constexpr Runs longest = runs_for(bucket.horizon);
};

}  // namespace totograph::cuda
