// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/bucket.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/series.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/shared_states.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/toto/checkpoint.hpp>
#include <totograph/toto/collect.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/forecast_sizes.hpp>
#include <totograph/toto/input_states.hpp>
#include <totograph/toto/programs.hpp>
#include <totograph/toto/request_parts.hpp>
#include <totograph/toto/rewrites.hpp>
#include <totograph/toto/states.hpp>

namespace totograph::toto {

/// The two programs of a forecast as they were recorded: what begins it, and what each further patch takes.
struct RecordedForecast {
    ForecastSizes sizes;
    Bucket bucket;
    bool has_cache;  ///< Whether the first program forecasts a patch already.
    std::array<Graph, 2> graphs;
    std::array<int, 2> recorded_nodes;  ///< Before what nothing depends on was dropped.
};

/// Records the programs of a bucket, now and not when compiling: nothing about them is a constant, and a further bucket
/// costs the compiler next to nothing.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites = Rewrites{}>
RecordedForecast record_forecast() {
    static_assert(check_bucket<Model, bucket>());
    constexpr bool has_cache = rewrites.kv_cache;
    using Begin =
        std::conditional_t<has_cache, Prefill<Model, bucket, rewrites>, BeginHistory<Model, bucket, rewrites>>;
    using Continue = std::conditional_t<has_cache, Decode<Model, bucket, rewrites>, Recompute<Model, bucket, rewrites>>;
    const Graph begin = record<Begin>();
    const Graph further = record<Continue>();
    return {ForecastSizes(Model::config, bucket),
            bucket,
            has_cache,
            {rewrite(begin, Passes::none()), rewrite(further, Passes::none())},
            {begin.size(), further.size()}};
}

/// Forecasts as a `Forecaster` with the eager executor does, to the bit, with programs that are recorded when it is
/// made: one class for all models and buckets. One thread at a time may use it.
class EagerForecaster {
public:
    /// Prepares weights, unless other eager forecasters of these have them, and memory.
    EagerForecaster(const Weights& weights, RecordedForecast recorded)
        : recorded_(std::move(recorded)),
          states_(recorded_.graphs),
          memory_(states_.bytes()),
          result_(result_size(recorded_.sizes, recorded_.bucket)) {
        const auto memory_of = [this](const Node& node) { return state(node.name, node.layer); };
        for (std::size_t i = 0; i < bound_.size(); ++i) {
            bound_[i] = cpu::BoundGraph(GraphView{recorded_.graphs[i].nodes}, weights, memory_of);
        }
    }
    EagerForecaster(const EagerForecaster&) = delete;
    EagerForecaster& operator=(const EagerForecaster&) = delete;
    ~EagerForecaster() = default;

    /// As `Forecaster::forecast`.
    Forecast forecast(const Series& series, const ForecastOptions& options = {}) {
        return forecast_in_parts(series, options, recorded_.bucket, recorded_.sizes.patch_size, parts_,
                                 [this](const Series& part, const Bucket& request, std::uint64_t seed,
                                        std::uint32_t first_sample) { return run(part, request, seed, first_sample); });
    }

    /// Bytes that it holds: states, intermediates, the result, and the weights of each program, which are counted as if
    /// nothing else read them (see `cpu::EagerExecutor::memory_bytes`).
    [[nodiscard]] std::size_t memory_bytes() const {
        std::size_t bytes = memory_.size() + result_.size() * sizeof(float) + parts_.bytes();
        for (const cpu::BoundGraph& bound : bound_) {
            bytes += bound.intermediate_bytes() + bound.weight_bytes();
        }
        return bytes;
    }

private:
    /// A request that was checked and fits.
    Forecast run(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
        const ForecastSizes& sizes = recorded_.sizes;
        const auto memory_of = [this](std::string_view name) { return state(name, -1); };
        InputStates(sizes, memory_of).fill(series, request, seed, first_sample);
        bound_[0].run();
        const Index patches = divide_rounding_up(request.horizon, sizes.patch_size);
        for (Index patch = recorded_.has_cache ? 1 : 0; patch < patches; ++patch) {
            bound_[1].run();
        }
        return collect_forecast(static_cast<const float*>(state(states::forecast, -1)), sizes, request, result_);
    }

    [[nodiscard]] void* state(std::string_view name, int layer) const noexcept {
        const auto* entry = states_.find(name, layer);
        return entry == nullptr ? nullptr : memory_.data() + entry->offset;
    }

    RecordedForecast recorded_;
    SharedStates states_;
    Arena memory_;
    std::array<cpu::BoundGraph, 2> bound_;
    std::vector<float> result_;
    PartsMemory parts_;
};

}  // namespace totograph::toto
